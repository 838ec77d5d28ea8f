extension Async {
    /// The outcome of the first attempt that succeeds, or of the last one.
    ///
    /// ```swift
    /// let birds = Async.retry(5, backoff: .exponential(from: .milliseconds(100)), on: network) { attempt in
    ///     dataSource.getBirds()
    /// }
    /// ```
    ///
    /// Attempts are started on `context`, one after the other, and the waits between them pass in its time (law 7), so it has
    /// no default. An error for which `isWorthwhile` is false ends it. Cancelling ends the wait, or cancels the attempt
    /// that is under way.
    public static func retry(
        _ attempts: Int, backoff: Backoff = .none, on context: some ExecutionContext,
        fileID: StaticString = #fileID, line: UInt = #line,
        while isWorthwhile: @escaping @Sendable (any Error) -> Bool = { _ in true },
        _ body: @escaping @Sendable (_ attempt: Int) throws -> Async
    ) -> Async {
        require(
            attempts > 0, "\(attempts) attempts were to be made, of which none can succeed. Allow at least 1."
        )
        let attempts = Attempts(
            limit: attempts, backoff: backoff, context: context, place: (fileID, line),
            isWorthwhile: isWorthwhile, body: body)
        let cell = Retry("retry", on: Hop.to(context))
        attempts.start(1, for: cell)
        return Async(cell: cell)
    }
}

/// The cell of attempts.
private final class Retry: Timed, @unchecked Sendable {
    // Unchecked: it has no state of its own.

    /// The attempt that is under way may be the last.
    override var obstacle: String? { awaited?.isPending == true ? nil : super.obstacle }
}

/// What is to be attempted, and how often. Handed from one attempt to the next, so that it goes with the last.
private struct Attempts<Value: Sendable, Context: ExecutionContext>: Sendable {
    let limit: Int
    let backoff: Backoff
    let context: Context
    let place: (fileID: StaticString, line: UInt)
    let isWorthwhile: @Sendable (any Error) -> Bool
    let body: @Sendable (Int) throws -> Async<Value>

    func start(_ number: Int, for cell: Timed) {
        cell.hop(to: context) { make(number, for: cell) }
    }

    private func make(_ number: Int, for cell: Timed) {
        // What throws is told as what fails later, so that many attempts do not nest (law 25).
        let attempt: Async<Value>
        do { attempt = try body(number) } catch { attempt = Async(error: error) }
        cell.follow(attempt.cell) { source, cell in
            if let error = source.error {
                fail(number, error, for: Timed.of(cell))
            } else {
                cell.end(like: source, Value.self)
            }
        }
    }

    private func fail(_ number: Int, _ error: any Error, for cell: Timed) {
        guard number < limit, isWorthwhile(error) else { return _ = cell.end(throwing: error) }
        let delay = backoff.delay(number)
        guard delay > .zero else { return start(number + 1, for: cell) }
        cell.wake(after: delay, on: context, from: place) { make(number + 1, for: cell) }
    }
}
