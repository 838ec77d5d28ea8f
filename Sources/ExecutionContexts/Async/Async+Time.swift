extension Async {
    /// The same outcome, at least `delay` later, in the time of `context` and on it (law 7).
    ///
    /// Errors are delayed as values are. A zero or negative delay means as soon as possible. The context has no default:
    /// under a context with virtual time, a delay on another one would wait for the real clock.
    public func delay(
        _ delay: Duration, on context: some ExecutionContext, fileID: StaticString = #fileID,
        line: UInt = #line
    ) -> Async {
        let delayed = Timed("delay", on: Hop.to(context))
        delayed.wait(for: cell) { source, delayed in
            Timed.of(delayed).wake(after: delay, on: context, from: (fileID, line)) {
                delayed.end(like: source, Value.self)
            }
        }
        return Async(cell: delayed)
    }

    /// The same outcome, at least so many seconds later; infinity never comes, not-a-number stops the program (law 7).
    public func delay(
        _ seconds: Double, on context: some ExecutionContext, fileID: StaticString = #fileID,
        line: UInt = #line
    ) -> Async {
        let duration = Duration.saturating(seconds: seconds, fileID: fileID, line: line)
        return delay(duration ?? .nanoseconds(Int64.max), on: context, fileID: fileID, line: line)
    }

    /// The same outcome if it comes within `limit`, in the time of `context`; otherwise an error that says so.
    ///
    /// When time is up the source is left, and cancelled if it has no other interested subscriber (law 26). A zero or
    /// negative limit means what has ended already. The result is an `Async` of its own in every case: cancelling it
    /// cancels no other subscriber of the source. The context has no default, for the reason that `delay(_:on:)` gives.
    public func timeout(
        after limit: Duration, on context: some ExecutionContext, fileID: StaticString = #fileID,
        line: UInt = #line
    ) -> Async {
        if let outcome { return Async(outcome) }
        guard limit > .zero else {
            cell.cancelIfUnwanted()
            return Async(error: AsyncError.timedOut(after: limit))
        }
        let timed = Timed("timeout")
        timed.wait(for: cell) { source, timed in timed.end(like: source, Value.self) }
        // A limit that never comes needs no alarm: the source ends this.
        if context.time.now.advanced(by: limit) < .never {
            timed.wake(after: limit, on: context, from: (fileID, line)) {
                timed.giveUp(AsyncError.timedOut(after: limit))
            }
        }
        return Async(cell: timed)
    }

    /// The same outcome if it comes within so many seconds; infinity is no limit, not-a-number stops the program.
    public func timeout(
        after seconds: Double, on context: some ExecutionContext,
        fileID: StaticString = #fileID, line: UInt = #line
    ) -> Async {
        let limit = TimeLimit.checked(seconds: seconds, fileID: fileID, line: line)
        return timeout(
            after: limit ?? .nanoseconds(Int64.max), on: context, fileID: fileID, line: line)
    }
}
