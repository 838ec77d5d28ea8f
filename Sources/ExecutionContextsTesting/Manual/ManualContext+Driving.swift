internal import ExecutionContexts

extension ManualContext {
    /// Runs an async `body` to its end on this context, and returns its value or throws its error.
    ///
    /// ```swift
    /// let context = ManualContext()
    /// let names = try context.drive {
    ///     async let slow = context.clock.sleep(for: .seconds(5))
    ///     try await slow
    ///     return ["wren", "robin"]
    /// }
    /// ```
    ///
    /// The body, its child tasks and the actors that it calls run here on the calling thread, one job at a time and in one
    /// order, the same each time. Whenever nothing is ready, time moves on to the next delay or sleep. No thread waits for
    /// another, so it may be called anywhere: on the main thread or off it, in a synchronous test or in an async one. It may
    /// not be called from within work of the context.
    ///
    /// What does not inherit the context runs elsewhere: a `Task { }` or `Task.detached`, the main actor, an actor with its own
    /// executor, a sleep on a real clock. If the body waits for such a thing, and nothing else is pending, a
    /// ``ManualFailure`` says so at once; a `Task { }` that nobody waits for is not noticed. So it does
    /// when `limit` pieces have run and the body goes on. Then the body is cancelled.
    public func drive<Value: Sendable>(
        limit: Int = 1_000_000, fileID: StaticString = #fileID, line: UInt = #line,
        _ body: @escaping @Sendable () async throws -> Value
    ) throws -> Value {
        let answer = submitTask(fileID: fileID, line: line, body)
        var count = 0
        do {
            let origin = "\(fileID):\(line)"
            let isOver = try manualTime.run(name, origin, limit: limit, count: &count) { answer.isCompleted }
            if !isOver { throw manualTime.failure(.stuck, name, origin) }
        } catch {
            answer.cancel()
            throw error
        }
        return try answer.outcome!.get()
    }

    /// Runs an async `body` to its end on this context, and waits for what it needs from elsewhere.
    ///
    /// It is `drive` for a body that calls the main actor, or an actor with its own executor: whenever nothing is pending it
    /// suspends until something is submitted. When that comes is not for this context to say, so the order is exact only
    /// between two such waits. Each lasts at most for `patience`, in real time; then a ``ManualFailure`` says that the body
    /// is stuck. The body is driven where the caller is isolated.
    public nonisolated(nonsending) func driveAsync<Value: Sendable>(
        patience: Duration = .seconds(30), limit: Int = 1_000_000, fileID: StaticString = #fileID,
        line: UInt = #line, _ body: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        let answer = submitTask(fileID: fileID, line: line, body)
        var count = 0
        do {
            let origin = "\(fileID):\(line)"
            while try !manualTime.run(
                name, origin, limit: limit, count: &count, until: { answer.isCompleted })
            {
                try Task.checkCancellation()
                let hasArrived = await Arrival.wait(under: manualTime, atMost: patience)
                try Task.checkCancellation()
                // Something may have come with the last of the patience.
                if !hasArrived, manualTime.isEmpty { throw manualTime.failure(.stuck, name, origin) }
            }
        } catch {
            answer.cancel()
            throw error
        }
        return try answer.outcome!.get()
    }
}

/// A wait for something to be submitted, for time to run out, or for the task to be cancelled.
private final class Arrival: Sendable {
    private let state = Locked<(answer: Bool?, continuation: CheckedContinuation<Bool, Never>?)>((nil, nil))

    static nonisolated(nonsending) func wait(under time: ManualTime, atMost patience: Duration) async -> Bool
    {
        let arrival = Arrival()
        let alarm = GlobalContext().schedule(after: patience) { arrival.tell(false) }
        defer { alarm.cancel() }
        return await withCancellationHandler {
            await withCheckedContinuation { continuation in
                arrival.begin(continuation)
                time.onArrival { arrival.tell($0) }
            }
        } onCancel: {
            arrival.tell(false)
        }
    }

    private func begin(_ continuation: CheckedContinuation<Bool, Never>) {
        let answer = state.withLock { state -> Bool? in
            if state.answer == nil { state.continuation = continuation }
            return state.answer
        }
        if let answer { continuation.resume(returning: answer) }
    }

    private func tell(_ answer: Bool) {
        let continuation = state.withLock { state -> CheckedContinuation<Bool, Never>? in
            if state.answer == nil { state.answer = answer }
            return state.continuation.take()
        }
        continuation?.resume(returning: answer)
    }
}
