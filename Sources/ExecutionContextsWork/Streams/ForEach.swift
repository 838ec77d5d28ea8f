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
        let calls = InvalidationToken()
        return Async(fileID: fileID, line: line) {
            try await withTaskCancellationHandler {
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
                        context.submit(fileID: fileID, line: line) {
                            if !calls.isValid { throw CancellationError() }
                            do { try body(element) } catch {
                                // Before the next call can begin.
                                calls.invalidate()
                                throw error
                            }
                        })
                }
                while let call = pending.popFirst() { try await call.get() }
                if let problem { throw problem }
            } onCancel: {
                calls.invalidate()
            }
        }
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
