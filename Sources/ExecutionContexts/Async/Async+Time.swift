extension Async {
    /// The same outcome, at least `delay` later, in the time of `context` and on it (law 7).
    ///
    /// Errors are delayed as values are. A zero or negative delay means as soon as possible.
    public func delay(_ delay: Duration, on context: some ExecutionContext = .global) -> Async {
        let delayed = Timed("delay", on: Hop.to(context))
        delayed.wait(for: cell) { source, delayed in
            Timed.of(delayed).wake(after: delay, on: context) { delayed.end(like: source, Value.self) }
        }
        return Async(cell: delayed)
    }

    /// The same outcome, at least so many seconds later; infinity never comes, not-a-number stops the program (law 7).
    public func delay(
        _ seconds: Double, on context: some ExecutionContext = .global, fileID: StaticString = #fileID,
        line: UInt = #line
    ) -> Async {
        let duration = Duration.saturating(seconds: seconds, fileID: fileID, line: line)
        return delay(duration ?? .nanoseconds(Int64.max), on: context)
    }

    /// The same outcome if it comes within `limit`, in the time of `context`; otherwise an error that says so.
    ///
    /// When time is up the source is left, and cancelled if nobody else wants it (law 26). A zero or negative limit means
    /// what has ended already.
    public func timeout(after limit: Duration, on context: some ExecutionContext = .global) -> Async {
        guard cell.isPending else { return self }
        guard limit > .zero else {
            cell.cancelIfUnwanted()
            return Async(error: AsyncError.timedOut(after: limit))
        }
        let timed = Timed("timeout")
        timed.wait(for: cell) { source, timed in timed.end(like: source, Value.self) }
        timed.wake(after: limit, on: context) { timed.giveUp(AsyncError.timedOut(after: limit)) }
        return Async(cell: timed)
    }

    /// The same outcome if it comes within so many seconds; infinity is no limit, not-a-number stops the program.
    public func timeout(
        after seconds: Double, on context: some ExecutionContext = .global,
        fileID: StaticString = #fileID, line: UInt = #line
    ) -> Async {
        guard let limit = TimeLimit.checked(seconds: seconds, fileID: fileID, line: line) else {
            return self
        }
        return timeout(after: limit, on: context)
    }

    /// The same outcome, but cancelling this leaves the source to go on.
    public func shielded() -> Async {
        let shielded = Shielded()
        shielded.wait(for: cell) { source, shielded in shielded.end(like: source, Value.self) }
        return Async(cell: shielded)
    }
}

/// A cell that stays in the line of its source when it is cancelled, so that the source is wanted.
private final class Shielded: AsyncCell, @unchecked Sendable {
    // Unchecked: it has no state of its own.
    override func cancel() -> Bool { end(throwing: CancellationError()) }

    override var label: String { "a shielded value" }
}
