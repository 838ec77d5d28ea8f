internal import Synchronization

/// A job that waits for its deadline; made by `schedule`.
///
/// Keep it to be able to cancel the job. If you release it, the job runs all the same.
@safe public class DelayedWork: @unchecked Sendable {
    // Unchecked: `state` says which thread may touch `body`. The lock of the time source guards
    // `deadlineNanoseconds`, `sequence`, `listIndex`, `next` and `previous`. The rest never
    // changes. The fields are ordered and sized so that a delay fits an 88-byte block. Those behind
    // a lock skip the run-time exclusivity checks, which the lock makes superfluous.

    private enum State: UInt8, AtomicRepresentable { case waiting, started, cancelled }

    private let state = Atomic<State>(.waiting)
    /// Whether its time source is the system's. Most are, and then `cancel` need not ask the
    /// context.
    private let isTimedBySystem: Bool
    /// The list of the timer wheel that holds it.
    @exclusivity(unchecked) final var listIndex = TimerWheel.noList
    package final let place: CodePlace
    @exclusivity(unchecked) final var deadlineNanoseconds: Int64
    /// The order of submission, which decides between equal deadlines.
    @exclusivity(unchecked) package final var sequence: UInt64 = 0
    @exclusivity(unchecked) final var next: TimerNode?
    @exclusivity(unchecked) final var previous: TimerNode?
    /// The closure; the thread that moves `state` from waiting takes it.
    @exclusivity(unchecked) private final var body: Work?

    @usableFromInline
    init(
        _ body: consuming @escaping Work, deadline: ContextInstant, isTimedBySystem: Bool,
        from place: CodePlace
    ) {
        self.isTimedBySystem = isTimedBySystem
        unsafe self.body = body
        unsafe self.deadlineNanoseconds = deadline.nanoseconds
        self.place = place
    }

    // Runs with a closure if the delay is freed before its deadline, or never comes. Its captures
    // may hold the last reference to another delay, and so on, a million times.
    deinit {
        // In one expression: a name for the closure would keep it until this returns.
        if unsafe body != nil { Freeing.free(unsafe body.take()) }
    }

    /// When it is due, in the time of its context.
    public var deadline: ContextInstant { unsafe ContextInstant(nanoseconds: deadlineNanoseconds) }

    /// Where it was scheduled, as file and line; without a line above 32,767.
    public var sourceLocation: String { place.call }

    /// The name of the context that it runs on.
    public var contextName: String { fatalError("DelayedWork is made by schedule only.") }

    /// Whether it has neither started nor been cancelled.
    public var isWaiting: Bool {
        SimulationHooks.look()
        return state.load(ordering: .relaxed) == .waiting
    }

    /// Cancels the job unless it has started: true if it will never run, false if it ran or runs
    /// (law 7).
    ///
    /// It can win until the body starts, also when the job is due and queued already. The captures
    /// of the body are freed before the call returns, unless it is nested more than 32 deep (law
    /// 25). A second call returns false.
    @discardableResult
    public func cancel() -> Bool {
        guard let captures = takeBody(.cancelled) else { return false }
        if isTimedBySystem { SystemTime.shared.remove(self) } else { withdraw() }
        // The captures may hold the last reference to an object that cancels another delay.
        Freeing.free(consume captures)
        return true
    }

    /// Submits the job to its context; a time source calls this once, when the job is due.
    public func fire() { fatalError("DelayedWork is made by schedule only.") }

    /// Removes the delay from a time source other than the system's.
    @usableFromInline
    func withdraw() { fatalError("DelayedWork is made by schedule only.") }

    /// Submits the run of the job to the context.
    @usableFromInline
    func submit() { fatalError("DelayedWork is made by schedule only.") }

    /// Runs the job, unless it has been cancelled.
    final func run() {
        guard let body = takeBody(.started) else { return }
        body()
    }

    /// Frees the captures: the context has dropped the job.
    final func drop() { Freeing.free(takeBody(.cancelled)) }

    /// Moves `state` from waiting and takes the closure; nil if another caller has done so.
    private func takeBody(_ new: State) -> Work? {
        SimulationHooks.point()
        // Acquiring and releasing: the thread that succeeds reads what the maker wrote. No decision
        // rests on a read of `isWaiting`.
        let (won, _) = state.compareExchange(
            expected: .waiting, desired: new, ordering: .acquiringAndReleasing)
        guard won else { return nil }
        return unsafe body.take()
    }
}
