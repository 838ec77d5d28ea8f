public import ExecutionContexts

/// A virtual time that only the test advances; manual contexts may share one.
///
/// ```swift
/// let time = ManualTime()
/// let main = ManualContext(name: "main", time: time)
/// let disk = ManualContext(name: "disk", time: time)
/// disk.schedule(after: .seconds(1)) { main.execute { print("saved") } }
/// time.advance(by: .seconds(1))
/// ```
///
/// Advancing it runs the jobs of all these contexts, one at a time, in the order of (deadline,
/// submission). A custom context joins by returning it as its `time`. Any thread may submit jobs at
/// any time. One thread at a time advances it, and a job that it runs must not advance it.
public final class ManualTime: TimeSource {
    /// Its name in messages.
    public let name: String
    private let lateness: (@Sendable (PendingWork) -> Duration)?
    /// How many jobs one call without its own limit may run.
    let limit: Int
    let state = Locked(ManualState())

    /// Creates a time at zero.
    ///
    /// - Parameters:
    ///   - name: its name in messages.
    ///   - limit: how many jobs one call of `advance` or `runReady` may run. A call that exceeds it
    ///     traps with a message, where endless work would hang the test.
    ///   - lateness: how much later than its deadline a delay fires, evaluated when the delay is
    ///     set. It tests code that must tolerate late delays. `{ $0.tolerance }` makes each delay
    ///     as late as allowed. A negative result counts as zero, so no delay is early.
    public init(
        name: String = "manual time", limit: Int = 10_000_000,
        lateness: (@Sendable (PendingWork) -> Duration)? = nil
    ) {
        self.name = name
        self.limit = limit
        self.lateness = lateness
    }

    deinit {
        // A schedule of a simulation may end with pending work, which the simulation reports
        // itself.
        if SimulationHooks.current == nil {
            report("was released with work that never ran (law 10). Run it, or call finish()")
        }
    }

    // MARK: TimeSource

    /// The current instant, which starts at zero.
    public var now: ContextInstant { state.withLock { $0.now } }

    /// A clock of this time, for async code that sleeps.
    public var clock: ContextClock { ContextClock(self, name: name) }

    public func add(_ delay: DelayedWork, tolerance: Duration) {
        add(delay, tolerance: tolerance, of: nil)
    }

    public func remove(_ delay: DelayedWork) {
        // Released outside the lock, with its captures (law 9).
        _ = state.withLock { $0.remove(delay) }
    }

    func add(_ delay: DelayedWork, tolerance: Duration, of queue: ManualReadyQueue?) {
        var fireTime = delay.deadline
        if let lateness {
            let late = lateness(
                PendingWork(delay, fireTime: fireTime, tolerance: tolerance, queue: queue))
            // A late delay still fires: only a deadline can be `.never`.
            fireTime = min(
                fireTime.advanced(by: max(late, .zero)), ContextInstant(nanoseconds: .max - 1))
        }
        guard delay.deadline < .never else { return }
        let entry = DelayHeap.Entry(
            delay: delay, tolerance: tolerance, queue: queue, fireTime: fireTime)
        state.withLock { $0.add(entry) }.notify()
    }

    // MARK: Driving

    /// Runs the jobs that are due on all contexts, and those that become due by them; time does not
    /// advance.
    ///
    /// - Returns: how many jobs ran.
    @discardableResult
    public func runReady() -> Int { runReady(nil, name) }

    /// Advances time by `duration` and runs, in order, every job that becomes due, on all contexts.
    public func advance(by duration: Duration) { advance(to: now.advanced(by: duration)) }

    /// Advances time to `instant` and runs, in order, every job that becomes due, on all contexts.
    ///
    /// Delays that are due at the same instant are submitted together, as by one timer interrupt,
    /// and jobs that they submit run after them. Each delay runs at its own deadline, which `now`
    /// returns meanwhile. Time never goes back: an earlier instant only runs the ready jobs.
    public func advance(to instant: ContextInstant) { advance(to: instant, name) }

    /// Runs every job, advancing time from delay to delay, until only background work is pending.
    ///
    /// A context with an endless repetition never becomes idle. After `limit` jobs this method
    /// throws a ``ManualFailure`` that lists what is pending.
    ///
    /// - Returns: how many jobs ran.
    @discardableResult
    public func runUntilIdle(
        limit: Int = 100_000, fileID: StaticString = #fileID, line: UInt = #line
    ) throws -> Int {
        try runUntilIdle(limit, name, "\(fileID):\(line)")
    }

    /// Advances time and runs nothing, as when the machine sleeps or a job takes long.
    ///
    /// A delay that becomes due meanwhile fires late, when this time next runs jobs. Any code may
    /// call it. A job that calls it takes that much time.
    public func stall(for duration: Duration) {
        state.withLock { $0.now = max($0.now, $0.now.advanced(by: duration)) }
    }

    // MARK: Pending work

    /// The pending work of all contexts: ready jobs, then delays, each in the order in which they
    /// would run.
    public var pending: [PendingWork] { pending(of: nil) }

    /// Ends a test: drops all pending work, and throws a ``ManualFailure`` that lists it if there
    /// was any.
    ///
    /// It also drops background work, but does not list it. Callers awaiting dropped work receive a
    /// refusal. Call it last: pending work that never runs would keep its contexts and its captures
    /// alive forever (law 10).
    public func finish(fileID: StaticString = #fileID, line: UInt = #line) throws {
        try finish(nil, name, "\(fileID):\(line)")
    }
}
