extension Async {
    /// Returns an `Async` with the same outcome, at least `delay` later, in the time of `context`
    /// and on it (law 7).
    ///
    /// Errors are delayed like values. A zero or negative delay means as soon as possible. The
    /// context has no default: under a context with virtual time, a delay on another one would wait
    /// for the real clock.
    public func delay(
        _ delay: Duration, on context: some ExecutionContext, fileID: StaticString = #fileID,
        line: UInt = #line
    ) -> Async {
        let delayed = DelayedOutcome("delay", on: context)
        delayed.subscribe(to: state) { source, delayed in
            Timed.of(delayed).wake(after: delay, on: context, from: (fileID, line)) {
                delayed.complete(like: source, Value.self)
            }
        }
        return Async(state: delayed)
    }

    /// Returns an `Async` with the same outcome if it comes within `limit`, in the time of
    /// `context`.
    ///
    /// When the limit passes, the result fails with ``AsyncError/timedOut(after:)`` and leaves the
    /// source, which is cancelled if it has no other interested subscriber (law 26). A zero or
    /// negative limit accepts only what has completed already. The result is an `Async` of its own
    /// in every case: cancelling it cancels no other subscriber of the source. The context has no
    /// default, for the reason given at `delay(_:on:)`. A deadline of the caller's that is earlier
    /// shortens the limit (law 38).
    public func timeout(
        after limit: Duration, on context: some ExecutionContext, fileID: StaticString = #fileID,
        line: UInt = #line
    ) -> Async {
        if let outcome { return Async(outcome) }
        let limit = Deadline.shortened(limit, in: context.time) ?? limit
        guard limit > .zero else {
            state.cancelIfUnwanted()
            return Async(error: AsyncError.timedOut(after: limit))
        }
        let timed = Timed("timeout", on: context)
        timed.subscribe(to: state, FutureState.copy(Value.self))
        // An infinite limit needs no alarm: the source completes this.
        if context.time.now.advanced(by: limit) < .never {
            timed.wake(after: limit, on: context, from: (fileID, line)) {
                timed.giveUp(AsyncError.timedOut(after: limit))
            }
        }
        return Async(state: timed)
    }
}

/// The future state of a delay.
private final class DelayedOutcome: Timed, @unchecked Sendable {
    // Unchecked: it has no state of its own.

    // The source, and then a job on the context.
    override var needsAll: Bool { true }

    override var obstacle: String? { obstacle(if: { true }) }
}
