extension Async {
    /// Returns a future of the first attempt that succeeds, or of the last one.
    ///
    /// ```swift
    /// let backoff = Backoff.exponential(from: .milliseconds(100))
    /// let birds = Async.retry(attempts: 5, backoff: backoff, on: network) { attempt in
    ///     dataSource.getBirds()
    /// }
    /// ```
    ///
    /// Attempts start on `context`, one after the other, and the delays between them are in its
    /// time (law 7), so it has no default. An error for which `isWorthwhile` is false is the
    /// outcome. Cancelling ends the delay, or cancels the current attempt.
    @_disfavoredOverload
    public static func retry(
        attempts: Int, backoff: Backoff = .none, on context: some ExecutionContext,
        fileID: StaticString = #fileID, line: UInt = #line,
        while isWorthwhile: @escaping @Sendable (any Error) -> Bool = { _ in true },
        _ body: @escaping @Sendable (_ attempt: Int) throws -> Async
    ) -> Async {
        require(
            attempts > 0,
            "A retry allows \(attempts) attempts, so it can never succeed. Allow at least 1."
        )
        let attempts = Attempts(
            limit: attempts, backoff: backoff, context: context, location: (fileID, line),
            isWorthwhile: isWorthwhile, body: body)
        let state = Retry("retry", on: ContextHop.to(context))
        attempts.start(1, for: state)
        return Async(state: state)
    }
}

/// The future state of a retry.
private final class Retry: Timed, @unchecked Sendable {
    // Unchecked: it has no state of its own.

    /// None while an attempt is pending: it may be the last.
    override var obstacle: String? { awaited?.isPending == true ? nil : super.obstacle }
}

/// What a retry attempts, and how often. Passed from one attempt to the next, so the last one frees
/// it.
private struct Attempts<Value: Sendable, Context: ExecutionContext>: Sendable {
    let limit: Int
    let backoff: Backoff
    let context: Context
    let location: (fileID: StaticString, line: UInt)
    let isWorthwhile: @Sendable (any Error) -> Bool
    let body: @Sendable (Int) throws -> Async<Value>

    func start(_ number: Int, for state: Timed) {
        state.hop(to: context) { make(number, for: state) }
    }

    private func make(_ number: Int, for state: Timed) {
        // A body that throws is handled like an `Async` that fails, so that attempts do not nest
        // (law 25).
        let attempt: Async<Value>
        do { attempt = try body(number) } catch { attempt = Async(error: error) }
        state.follow(attempt.state) { source, state in
            if let error = source.error {
                fail(number, error, for: Timed.of(state))
            } else {
                state.complete(like: source, Value.self)
            }
        }
    }

    private func fail(_ number: Int, _ error: any Error, for state: Timed) {
        guard number < limit, isWorthwhile(error) else {
            return _ = state.complete(throwing: error)
        }
        let delay = backoff.delay(number)
        guard delay > .zero else { return start(number + 1, for: state) }
        state.wake(after: delay, on: context, from: location) { make(number + 1, for: state) }
    }
}
