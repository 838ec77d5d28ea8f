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
    /// time (law 7), so it has no default. An error for which `isWorthwhile` is false, or for which
    /// the back-off gives up, is the outcome. Cancelling ends the delay, or cancels the current
    /// attempt.
    ///
    /// `budget` limits all attempts and delays together. An error whose delay would not end within
    /// the budget is the outcome at once. When the budget passes during an attempt, the result
    /// fails with ``AsyncError/timedOut(after:)`` and leaves the attempt (law 26). An earlier
    /// deadline of the caller's shortens the budget (law 38).
    @_disfavoredOverload
    public static func retry(
        attempts: Int, backoff: Backoff = .none, within budget: Duration? = nil,
        on context: some ExecutionContext,
        fileID: StaticString = #fileID, line: UInt = #line,
        while isWorthwhile: @escaping @Sendable (any Error) -> Bool = { _ in true },
        _ body: @escaping @Sendable (_ attempt: Int) throws -> Async
    ) -> Async {
        require(
            attempts > 0,
            "A retry allows \(attempts) attempts, so it can never succeed. Allow at least 1."
        )
        let budget = Deadline.shortened(budget, in: context.time)
        if let budget, budget <= .zero {
            return Async(error: AsyncError.timedOut(after: budget))
        }
        let attempts = Attempts(
            limit: attempts, backoff: backoff,
            deadline: budget.map { context.time.now.advanced(by: $0) }, context: context,
            place: CodePlace(fileID, line), isWorthwhile: isWorthwhile,
            body: Deadline.keeping(body))
        let state = Timed("retry", on: context)
        let retry = Async(state: state)
        // Before the first attempt, which an inline context makes during this call.
        let limited = budget.map {
            retry.timeout(after: $0, on: context, fileID: fileID, line: line)
        }
        attempts.start(1, for: state)
        return limited ?? retry
    }
}

/// What a retry attempts, and how often. Passed from one attempt to the next, so the last one frees
/// it.
private struct Attempts<Value: Sendable, Context: ExecutionContext>: Sendable {
    let limit: Int
    let backoff: Backoff
    /// The end of the budget, if there is one.
    let deadline: ContextInstant?
    let context: Context
    let place: CodePlace
    let isWorthwhile: @Sendable (any Error) -> Bool
    let body: @Sendable (Int) throws -> Async<Value>

    func start(_ number: Int, for state: Timed) {
        state.hop(to: context, from: place) { make(number, for: state) }
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
        guard number < limit, isWorthwhile(error), let delay = backoff.delay(number, error),
            mayWait(delay)
        else { return _ = state.complete(throwing: error) }
        guard delay > .zero else { return start(number + 1, for: state) }
        state.wake(after: delay, on: context, from: place) { make(number + 1, for: state) }
    }

    /// Whether the delay ends within the budget.
    private func mayWait(_ delay: Duration) -> Bool {
        guard let deadline, deadline < .never else { return true }
        return context.time.now.advanced(by: max(delay, .zero)) < deadline
    }
}
