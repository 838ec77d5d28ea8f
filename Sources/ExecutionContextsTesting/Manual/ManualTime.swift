public import ExecutionContexts

/// A time that stands still until it is moved on; manual contexts may share one.
///
/// ```swift
/// let time = ManualTime()
/// let main = ManualContext(name: "main", time: time)
/// let disk = ManualContext(name: "disk", time: time)
/// disk.schedule(after: .seconds(1)) { main.execute { print("saved") } }
/// time.advance(by: .seconds(1))
/// ```
///
/// Moving it on runs the work of all of them, one piece at a time, in the order of (deadline, submission). A context
/// of your own takes part in it by returning it as its `time`. Work may be submitted from any thread at any time; one
/// thread at a time moves it on, and never from within the work that it runs.
public final class ManualTime: TimeSource {
    /// What this time is called in messages.
    public let name: String
    private let lateness: (@Sendable (PendingWork) -> Duration)?
    /// How many pieces one call may run that has no limit of its own.
    let limit: Int
    let state = Locked(ManualState())

    /// Makes a time that stands at zero.
    ///
    /// - Parameters:
    ///   - name: what it is called in messages.
    ///   - limit: how many pieces one call of `advance` or `runReady` may run: with more it stops the program with a
    ///     sentence, where work without end would hang it.
    ///   - lateness: how much later than its deadline a delay comes, asked when it is set: to test what bears with
    ///     lateness. `{ $0.tolerance }` makes each as late as it may be. Never early: less than zero is zero.
    public init(
        name: String = "manual time", limit: Int = 10_000_000,
        lateness: (@Sendable (PendingWork) -> Duration)? = nil
    ) {
        self.name = name
        self.limit = limit
        self.lateness = lateness
    }

    // MARK: Being a time

    /// The present, which starts at zero.
    public var now: Moment { state.withLock { $0.now } }

    /// This time as a clock, for async code that sleeps.
    public var clock: ContextClock { ContextClock(self, name: name) }

    public func add(_ delay: DelayedWork, tolerance: Duration) { add(delay, tolerance: tolerance, of: nil) }

    public func remove(_ delay: DelayedWork) {
        // Let go of outside the lock, captures and all (law 9).
        _ = state.withLock { $0.remove(delay) }
    }

    func add(_ delay: DelayedWork, tolerance: Duration, of line: ManualLine?) {
        var comes = delay.deadline
        if let lateness {
            let late = lateness(PendingWork(delay, comes: comes, tolerance: tolerance, line: line))
            // However late, it comes: only a deadline can be never.
            comes = min(comes.advanced(by: max(late, .zero)), Moment(nanoseconds: .max - 1))
        }
        guard delay.deadline < .never else { return }
        let waiting = DelayHeap.Waiting(delay: delay, tolerance: tolerance, line: line, comes: comes)
        state.withLock { $0.add(waiting) }.tell()
    }

    // MARK: Being told

    /// Runs what is due now on all contexts, and what becomes due by it, until nothing is; time stands still.
    ///
    /// - Returns: how many pieces ran.
    @discardableResult
    public func runReady() -> Int { runReady(nil, name) }

    /// Moves time on by `duration` and runs, in order, everything that becomes due on the way, on all contexts.
    public func advance(by duration: Duration) { advance(to: now.advanced(by: duration)) }

    /// Moves time on to `moment` and runs, in order, everything that becomes due on the way, on all contexts.
    ///
    /// What is due at the same moment is submitted together, as it is when a machine's alarm goes off, and what
    /// that submits runs behind it. Each delay runs at its own deadline: `now` says so while it does. Time does not go
    /// back: an earlier moment only runs what is ready.
    public func advance(to moment: Moment) { advance(to: moment, name) }

    /// Runs everything, moving time on from one delay to the next, until nothing but background work is pending.
    ///
    /// With something that always repeats it is never idle: after `limit` pieces it throws a ``ManualFailure`` that says
    /// what is pending.
    ///
    /// - Returns: how many pieces ran.
    @discardableResult
    public func runUntilIdle(
        limit: Int = 100_000, fileID: StaticString = #fileID, line: UInt = #line
    ) throws -> Int {
        try runUntilIdle(limit, name, "\(fileID):\(line)")
    }

    /// Moves time on and runs nothing, as when the machine is asleep or a piece of work takes long.
    ///
    /// What becomes due meanwhile comes late, when this time is next told to run. It may be called anywhere, from
    /// within work too: so a piece of work takes time.
    public func stall(for duration: Duration) {
        state.withLock { $0.now = max($0.now, $0.now.advanced(by: duration)) }
    }

    // MARK: What is pending

    /// What is pending on all contexts: what is ready, then what waits, in the order in which it would run.
    public var pending: [PendingWork] { pending(of: nil) }

    /// Ends a test: lets go of everything that is pending, and throws a ``ManualFailure`` that lists it if anything was.
    ///
    /// Background work is let go of too, and not listed. Who awaits what is let go of is told so. Call it last: what is pending
    /// and never comes would keep the contexts that it belongs to, and all that it holds, for ever (law 10).
    public func finish(fileID: StaticString = #fileID, line: UInt = #line) throws {
        try finish(nil, name, "\(fileID):\(line)")
    }
}
