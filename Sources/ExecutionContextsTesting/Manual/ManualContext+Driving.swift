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
    /// The body, its child tasks and the actors that it calls run on the calling thread, one job at
    /// a time and in one order, the same each time. Whenever nothing is ready, time advances to the
    /// next delay or sleep. No thread waits for another, so any thread may call it: the main thread
    /// or another one, in a synchronous or an async test. A job of the context must not call it.
    ///
    /// Code that does not inherit the context runs elsewhere: a `Task { }` or `Task.detached`, the
    /// main actor, an actor with its own executor, a sleep on a real clock. If the body waits for
    /// such code and nothing else is pending, this method throws a ``ManualFailure`` at once. It
    /// does not notice a `Task { }` that is never awaited. It also throws if the body has not ended
    /// after `limit` jobs. After a failure it cancels the body.
    public func drive<Value: Sendable>(
        limit: Int = 1_000_000, fileID: StaticString = #fileID, line: UInt = #line,
        _ body: @escaping @Sendable () async throws -> Value
    ) throws -> Value {
        let answer = submitTask(fileID: fileID, line: line, body)
        var count = 0
        do {
            let sourceLocation = "\(fileID):\(line)"
            let isOver = try manualTime.run(name, sourceLocation, limit: limit, count: &count) {
                answer.isCompleted
            }
            if !isOver { throw manualTime.failure(.stuck, name, sourceLocation) }
        } catch {
            answer.cancel()
            throw error
        }
        return try answer.outcome!.get()
    }

    /// Runs an async `body` to its end on this context, and suspends while the body waits for code
    /// that runs elsewhere.
    ///
    /// This is `drive` for a body that calls the main actor, or an actor with its own executor.
    /// Whenever nothing is pending, it suspends until a job is submitted. The context does not
    /// control when that happens, so the order is exact only between two such waits. Each wait
    /// lasts at most for `patience`, in real time; then it throws a ``ManualFailure`` that reports
    /// the body as stuck. The body runs where the caller is isolated.
    public nonisolated(nonsending) func driveAsync<Value: Sendable>(
        patience: Duration = .seconds(30), limit: Int = 1_000_000, fileID: StaticString = #fileID,
        line: UInt = #line, _ body: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        let answer = submitTask(fileID: fileID, line: line, body)
        var count = 0
        do {
            let sourceLocation = "\(fileID):\(line)"
            while try !manualTime.run(
                name, sourceLocation, limit: limit, count: &count, until: { answer.isCompleted })
            {
                try Task.checkCancellation()
                let hasArrived = await Arrival.wait(under: manualTime, atMost: patience)
                try Task.checkCancellation()
                // A job may arrive just as the patience ends.
                if !hasArrived, manualTime.isEmpty {
                    throw manualTime.failure(.stuck, name, sourceLocation)
                }
            }
        } catch {
            answer.cancel()
            throw error
        }
        return try answer.outcome!.get()
    }
}

/// A wait that ends with a submission, with a timeout or with the cancellation of the task.
private final class Arrival: Sendable {
    private let state = Locked<(answer: Bool?, continuation: CheckedContinuation<Bool, Never>?)>(
        (nil, nil))

    static nonisolated(nonsending) func wait(under time: ManualTime, atMost patience: Duration)
        async -> Bool
    {
        let arrival = Arrival()
        let alarm = GlobalContext().schedule(after: patience) { arrival.notify(false) }
        defer { alarm.cancel() }
        return await withCancellationHandler {
            await withCheckedContinuation { continuation in
                arrival.begin(continuation)
                time.onArrival { arrival.notify($0) }
            }
        } onCancel: {
            arrival.notify(false)
        }
    }

    private func begin(_ continuation: CheckedContinuation<Bool, Never>) {
        let answer = state.withLock { state -> Bool? in
            if state.answer == nil { state.continuation = continuation }
            return state.answer
        }
        if let answer { continuation.resume(returning: answer) }
    }

    private func notify(_ answer: Bool) {
        let continuation = state.withLock { state -> CheckedContinuation<Bool, Never>? in
            if state.answer == nil { state.answer = answer }
            return state.continuation.take()
        }
        continuation?.resume(returning: answer)
    }
}
