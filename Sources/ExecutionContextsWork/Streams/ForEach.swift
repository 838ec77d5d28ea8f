public import ExecutionContexts

extension AsyncSequence where Self: Sendable, Element: Sendable {
    /// Calls `body` on `context` with each element, in order, and returns a future of the end.
    ///
    /// ```swift
    /// let names = Channel<String>(capacity: 8)
    /// names.forEach(on: context) { name in print(name) }
    ///     .onFailure { print("ended early: \($0)") }
    /// ```
    ///
    /// At most `limit` elements are on the context, running or queued. The next one is taken from
    /// the sequence when there is room, so a slow context slows the sequence down. On a serial
    /// context the calls do not overlap, whatever the limit.
    ///
    /// - The future succeeds when the sequence has ended and every call has returned.
    /// - It fails with the first error, by order of the elements, of the sequence, a call, or a
    ///   context that refuses a job. After a call has thrown, no other call begins.
    /// - Cancelling it cancels the task that iterates, and no other call begins.
    ///
    /// Traps if the limit is below 1.
    @discardableResult
    @_disfavoredOverload
    public func forEach(
        on context: some ExecutionContext, atMost limit: Int = 1,
        fileID: StaticString = #fileID, line: UInt = #line,
        _ body: @escaping @Sendable (Element) throws -> Void
    ) -> Async<Void> {
        require(
            limit >= 1,
            "\(fileID):\(line): forEach on '\(context.name)' allows \(limit) elements at a time, so "
                + "it would take none (law 36). Pass 1 or more.")
        let calls = Calls()
        let end = Async<Void>(fileID: fileID, line: line) {
            defer { calls.end() }
            try await withTaskCancellationHandler {
                try await consume(on: context, limit, calls, (fileID, line), body)
            } onCancel: {
                calls.end()
            }
        }
        calls.future = end
        return end
    }

    private func consume(
        on context: some ExecutionContext, _ limit: Int, _ calls: Calls,
        _ location: (fileID: StaticString, line: UInt),
        _ body: @escaping @Sendable (Element) throws -> Void
    ) async throws {
        var iterator = makeAsyncIterator()
        var pending = FIFO<Async<Void>>()
        var problem: (any Error)?
        while true {
            if pending.count == limit { try await pending.popFirst()?.get() }
            let next: Element?
            do { next = try await iterator.next(isolation: nil) } catch {
                // The elements before the error come first.
                problem = error
                break
            }
            guard let element = next else { break }
            pending.append(
                context.submit(fileID: location.fileID, line: location.line) {
                    if calls.haveEnded { throw CancellationError() }
                    do { try body(element) } catch {
                        // Before the next call can begin.
                        calls.end()
                        throw error
                    }
                })
        }
        while let call = pending.popFirst() { try await call.get() }
        if let problem { throw problem }
    }

    /// Calls a closure of the main actor on `context` with each element, in order, and returns a
    /// future of the end.
    @discardableResult
    public func forEach(
        on context: some MainActorContext, atMost limit: Int = 1,
        fileID: StaticString = #fileID, line: UInt = #line,
        _ body: @escaping @MainActor @Sendable (Element) throws -> Void
    ) -> Async<Void> {
        forEach(on: context.general, atMost: limit, fileID: fileID, line: line) { element in
            try MainActor.assumeIsolated { try body(element) }
        }
    }
}

/// Whether calls may begin.
private final class Calls: Sendable {
    private let token = InvalidationToken()
    /// The future of the end: its cancellation notifies its subscribers before the task ends.
    private let ending = LockedResource<Async<Void>?>(nil, lockedBy: .section)

    var future: Async<Void>? {
        get { ending.read { $0 } }
        set { ending.mutate { $0 = newValue } }
    }

    var haveEnded: Bool { !token.isValid || future?.isCompleted == true }

    func end() {
        token.invalidate()
        // The future keeps its task, and the task this. Freed outside the lock (law 9).
        _ = ending.mutate { $0.take() }
    }
}
