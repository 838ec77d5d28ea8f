public import ExecutionContexts

/// The ticks of a repetition, as an async sequence; made by `ticks(every:)`.
///
/// Each element is the instant at which the tick was due. Iterations are independent of each other,
/// and the first tick of each is due a period after its creation.
public struct Ticks: AsyncSequence, Sendable {
    public typealias Element = ContextInstant
    public typealias Failure = Never

    fileprivate let clock: ContextClock
    fileprivate let period: Duration
    fileprivate let policy: DriftPolicy

    public func makeAsyncIterator() -> Iterator {
        Iterator(ticks: self, first: clock.now.advanced(by: period))
    }

    /// One iteration. It needs no end: between two ticks it is only a sleep of its task.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate let ticks: Ticks
        fileprivate let first: ContextInstant
        fileprivate var last: ContextInstant?
        fileprivate var isOver = false

        /// Waits for the next tick; nil if the task is cancelled, or if the time of the context
        /// ends.
        public mutating func next(
            isolation: isolated (any Actor)? = #isolation
        ) async -> ContextInstant? {
            if isOver { return nil }
            let (clock, period) = (ticks.clock, ticks.period)
            let due =
                last.map { ticks.policy.due(after: $0, every: period, at: clock.now) } ?? first
            do { try await clock.sleep(until: due) } catch {
                isOver = true
                return nil
            }
            last = due
            return due
        }
    }
}

extension ExecutionContext {
    /// Returns an async sequence with one element every `period`, in the time of this context.
    ///
    /// ```swift
    /// for await _ in context.ticks(every: .seconds(30)) { await refresh() }
    /// func refresh() async {}
    /// ```
    ///
    /// A consumer that takes longer than a period gets its next tick by the policy, as the runs of
    /// `schedule(every:)` do; no tick is early (law 7). Traps if `period` is not positive.
    public func ticks(
        every period: Duration, policy: DriftPolicy = .skip,
        fileID: StaticString = #fileID, line: UInt = #line
    ) -> Ticks {
        require(
            period > .zero,
            "\(fileID):\(line): ticks every \(period) would keep all other code from running (law 7). "
                + "Pass a positive period.")
        return Ticks(clock: clock, period: period, policy: policy)
    }
}
