internal import Dispatch
internal import Synchronization

/// Work that waits for its time; made by `schedule`.
///
/// Keep it to be able to cancel, or let it go: the work runs all the same.
@safe public class DelayedWork: @unchecked Sendable {
    // Unchecked: `state` says who may touch `body`; `deadline`, `sequence`, `slot`, `next` and `previous`
    // belong to the time source and are guarded by its lock; the rest never changes. The fields are
    // ordered and sized so that a delay fits an 88-byte block, and those behind a lock skip the run-time
    // exclusivity checks that the lock makes superfluous.

    enum State { static let waiting: UInt8 = 0, started: UInt8 = 1, cancelled: UInt8 = 2 }

    private let state = Atomic<UInt8>(State.waiting)
    /// Whether its time is the system's, which most are and which then need not be asked for again.
    private let isTimedBySystem: Bool
    /// The list of the timer wheel that holds it.
    @exclusivity(unchecked) final var slot = TimerWheel.noSlot
    private let line: UInt32
    private let fileID: UnsafePointer<UInt8>
    @exclusivity(unchecked) final var deadlineNanoseconds: Int64
    /// The order of arrival, which decides between equal deadlines.
    @exclusivity(unchecked) package final var sequence: UInt64 = 0
    @exclusivity(unchecked) final var next: TimerNode?
    @exclusivity(unchecked) final var previous: TimerNode?
    /// The closure; whoever moves `state` from waiting takes it.
    @exclusivity(unchecked) private final var body: Work?

    @usableFromInline
    init(
        _ body: @escaping Work, deadline: Moment, isTimedBySystem: Bool, fileID: StaticString,
        line: UInt
    ) {
        self.isTimedBySystem = isTimedBySystem
        unsafe self.body = body
        unsafe self.deadlineNanoseconds = deadline.nanoseconds
        // A literal's characters live as long as the program and end in a zero.
        unsafe self.fileID = fileID.utf8Start
        self.line = UInt32(clamping: line)
    }

    // One that is freed before its time, or whose time never comes. Its captures may be the last reference to another
    // delay, and so on, a million times.
    deinit {
        // Given away in one expression: a name for it would keep it until this returns.
        if unsafe body != nil { Freeing.free(unsafe body.take()) }
    }

    /// When it is due, in the time of its context.
    public var deadline: Moment { unsafe Moment(nanoseconds: deadlineNanoseconds) }

    /// Where it was scheduled, as file and line.
    public var origin: String { unsafe "\(String(cString: fileID)):\(line)" }

    /// The name of the context that it is to run on.
    public var contextName: String { fatalError("DelayedWork is made by schedule only.") }

    /// Whether it has neither started nor been cancelled.
    public var isWaiting: Bool { state.load(ordering: .relaxed) == State.waiting }

    /// Cancels the work unless it has started: true if it will never run, false if it ran or runs (law 7).
    ///
    /// It can win until the body starts, also when the work is due and queued already. The captures of the
    /// body are freed before the call returns, unless it is nested more than 32 deep (law 25). A second call is
    /// false: cancelled counts once.
    @discardableResult
    public func cancel() -> Bool {
        guard let captures = claim(State.cancelled) else { return false }
        if isTimedBySystem { SystemTime.shared.remove(self) } else { withdraw() }
        // It may have captured the last reference to what cancels the next one.
        Freeing.free(consume captures)
        return true
    }

    /// Submits the work to its context; for time sources, which call it once, when the work is due.
    public func fire() { fatalError("DelayedWork is made by schedule only.") }

    /// Tells the time source that the work needs no alarm any more.
    @usableFromInline
    func withdraw() { fatalError("DelayedWork is made by schedule only.") }

    /// Gives the context the turn in which the work runs.
    @usableFromInline
    func submit(_ turn: DueTurn) { fatalError("DelayedWork is made by schedule only.") }

    /// The work as its context runs it.
    fileprivate final func run() {
        guard let body = claim(State.started) else { return }
        body()
    }

    /// The context has let go of the work without running it: its captures are freed.
    fileprivate final func abandon() { Freeing.free(claim(State.cancelled)) }

    private func claim(_ new: UInt8) -> Work? {
        Seam.point()
        // Acquiring and releasing: the winner reads what the maker wrote, and a loser's reader of
        // `isWaiting` decides nothing.
        let (won, _) = state.compareExchange(
            expected: State.waiting, desired: new, ordering: .acquiringAndReleasing)
        guard won else { return nil }
        return unsafe body.take()
    }
}

/// The one kind of delayed work: it knows the type of its context and so holds it without a box.
///
/// Inlinable, like `schedule`, so that the type is known where the call is written: looking up a generic class
/// at run time costs as much as the allocation.
@usableFromInline
@_fixed_layout
final class Delay<Context: ExecutionContext>: DelayedWork, @unchecked Sendable {
    // Unchecked for the reasons given above; the context itself is sendable and never changes.
    @usableFromInline
    let context: Context

    @inlinable
    init(
        on context: Context, deadline: Moment, isTimedBySystem: Bool, fileID: StaticString,
        line: UInt, _ body: @escaping Work
    ) {
        self.context = context
        super.init(
            body, deadline: deadline, isTimedBySystem: isTimedBySystem, fileID: fileID, line: line)
    }

    @inlinable
    override func fire() {
        guard isWaiting else { return }
        submit(DueTurn(self))
    }

    @inlinable
    override var contextName: String { context.name }

    @inlinable
    override func submit(_ turn: DueTurn) { context.enqueue { turn.run() } }

    @inlinable
    override func withdraw() { context.time.remove(self) }
}

/// What the context of a due delay holds: if it dies unused, the context has let go of the work, and the body
/// must not live on in a handle that somebody keeps (law 10).
@usableFromInline
final class DueTurn: Sendable {
    private let delay: DelayedWork

    @usableFromInline
    init(_ delay: DelayedWork) { self.delay = delay }

    // After a run the matter is over and this does nothing.
    deinit { delay.abandon() }

    @usableFromInline
    func run() {
        // A context that runs its work on the caller and does not say so in `enqueue` would hold up everybody. It
        // gets the turn once more, from elsewhere: so the work still runs where the context runs it.
        if SystemTime.isFiring { return DispatchQueue.global().async { self.delay.submit(self) } }
        delay.run()
    }
}
