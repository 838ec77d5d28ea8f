extension Async {
    /// The outcome of the first attempt that succeeds, or of the last one.
    ///
    /// ```swift
    /// let birds = Async.retry(5, backoff: .exponential(from: .milliseconds(100)), on: network) { attempt in
    ///     dataSource.getBirds()
    /// }
    /// ```
    ///
    /// Attempts are started on `context`, one after the other, and the waits between them pass in its time (law 7). An error
    /// for which `isWorthwhile` is false ends it. Cancelling ends the wait, or cancels the attempt that is under way.
    public static func retry(
        _ attempts: Int, backoff: Backoff = .none, on context: some ExecutionContext = .global,
        while isWorthwhile: @escaping @Sendable (any Error) -> Bool = { _ in true },
        _ body: @escaping @Sendable (_ attempt: Int) throws -> Async
    ) -> Async {
        require(
            attempts > 0, "\(attempts) attempts were to be made, of which none can succeed. Allow at least 1."
        )
        let attempts = Attempts(
            limit: attempts, backoff: backoff, context: context, isWorthwhile: isWorthwhile, body: body)
        let cell = Timed("retry")
        attempts.start(1, for: cell)
        return Async(cell: cell)
    }
}

/// What is to be attempted, and how often. Handed from one attempt to the next, so that it goes with the last.
private struct Attempts<Value: Sendable, Context: ExecutionContext>: Sendable {
    let limit: Int
    let backoff: Backoff
    let context: Context
    let isWorthwhile: @Sendable (any Error) -> Bool
    let body: @Sendable (Int) throws -> Async<Value>

    func start(_ number: Int, for cell: Timed) {
        cell.hop(to: context) { make(number, for: cell) }
    }

    private func make(_ number: Int, for cell: Timed) {
        do {
            cell.follow(try body(number).cell) { source, cell in
                if let error = source.error {
                    fail(number, error, for: Timed.of(cell))
                } else {
                    cell.end(like: source, Value.self)
                }
            }
        } catch {
            fail(number, error, for: cell)
        }
    }

    private func fail(_ number: Int, _ error: any Error, for cell: Timed) {
        guard number < limit, isWorthwhile(error) else { return _ = cell.end(throwing: error) }
        let delay = backoff.delay(number)
        guard delay > .zero else { return start(number + 1, for: cell) }
        cell.wake(after: delay, on: context) { make(number + 1, for: cell) }
    }
}
