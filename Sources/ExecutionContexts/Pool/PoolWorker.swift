internal import CPlatform
internal import Dispatch
internal import Synchronization

/// One of those who run a pool's work: a ring of work, and a lane by which it gets a thread while there is any.
///
/// A worker is active or at rest, where it has no thread, or one that naps. The pool's roster says which.
@safe final class PoolWorker: LentThread, @unchecked Sendable {
    // Unchecked: `isLone` and `turns` are the thread's that has this worker; the roster's part is reached under the
    // lock of the pool only, which makes the run-time exclusivity checks superfluous.

    /// The work that the others may take from it.
    let ring: WorkRing
    /// How many pieces it has begun; written by its thread, read by those who watch.
    private let begun = Atomic<Int>(0)
    /// Whether the roster must be asked, after the piece under way, if this one still counts.
    let isToReport = Atomic<Bool>(false)

    /// Whether the piece under way was the only one here when it was taken, so that what it adds goes on a chain.
    @exclusivity(unchecked) var isLone = false
    /// Where the search for work among the others starts, and how many pieces until everybody's line is looked at.
    @exclusivity(unchecked) var turns: UInt32 = 0

    /// The roster's: what it knows of this worker.
    @exclusivity(unchecked) var place = Place()

    struct Place {
        /// Whether it has a thread.
        var isActive = false
        /// Whether it is one of those that are thought to be getting on.
        var isCounted = false
        /// How many waits it is in, one within the other.
        var waits = 0
        /// What it had begun when it was last looked at, and whether its thread slept then.
        var seenBegun = -1
        var seenAsleep = false
        /// By which the watch asks what its thread is doing; -1 while it has none that is awake.
        var thread: Int64 = -1
    }

    /// Its pool, which outlives it.
    private let owner: Unmanaged<PoolCore>
    private let lane: DispatchQueue

    init(of core: PoolCore, number: Int) {
        ring = WorkRing()
        unsafe owner = .passUnretained(core)
        // A serial queue of its own gets a thread at once, also where the shared threads are busy.
        lane = DispatchQueue(label: "\(core.name).\(number)", qos: core.quality)
        super.init()
    }

    var core: PoolCore { unsafe owner._withUnsafeGuaranteedRef { $0 } }

    /// Has the worker's thread come; for who has taken it from those at rest.
    func call() {
        // Releasing: who naps sees what the caller did. Acquiring is for who naps.
        let nap = nap.compareExchange(
            expected: Self.naps, desired: Self.isCalled, successOrdering: .releasing,
            failureOrdering: .relaxed)
        if nap.exchanged { return unsafe withUnsafePointer(to: self.nap) { unsafe ec_wake_one($0) } }
        let core = core
        lane.async { core.work(self) }
    }

    // MARK: - Naps

    /// Whether the thread of a worker at rest is there still: away, napping, or called out of its nap.
    private let nap = Atomic<UInt32>(0)
    private static let isAway: UInt32 = 0
    private static let naps: UInt32 = 1
    private static let isCalled: UInt32 = 2

    /// How long a thread is kept without work: calling it then costs half of what it costs to get one from the system.
    private static let napLength: Int64 = 10_000_000

    /// From now on a call reaches the thread that calls this; before the worker is said to be at rest.
    ///
    /// Relaxed: the roster's lock comes between this and any call.
    func beginNap() { nap.store(Self.naps, ordering: .relaxed) }

    /// It goes on, and nobody has called it.
    func endNap() { nap.store(Self.isAway, ordering: .relaxed) }

    /// Sleeps until somebody calls (true) or it is time to give the thread back.
    func isCalledOutOfNap() -> Bool {
        let end = MonotonicClock.nanoseconds + Self.napLength
        // Acquiring, here and below: what the caller did is seen.
        while nap.load(ordering: .acquiring) == Self.naps, MonotonicClock.nanoseconds < end {
            unsafe withUnsafePointer(to: nap) { unsafe ec_wait($0, Self.naps, end) }
        }
        return nap.exchange(Self.isAway, ordering: .acquiring) == Self.isCalled
    }

    func isOf(_ core: PoolCore) -> Bool {
        unsafe owner.toOpaque() == Unmanaged.passUnretained(core).toOpaque()
    }

    /// The pieces it has begun.
    var pieces: Int { begun.load(ordering: .relaxed) }  // Relaxed: a figure.

    /// Counts a piece. Relaxed, and no exchange: nobody else writes.
    @inline(__always)
    func beginPiece() { begun.store(begun.load(ordering: .relaxed) &+ 1, ordering: .relaxed) }

    // MARK: - The thread that has it

    override func beginWait() { core.beginWait(self) }

    override func endWait() { core.endWait(self) }

    /// Runs `body` on the calling thread as this worker.
    func occupy(_ body: () -> Void) {
        let outer = unsafe ec_lender()
        unsafe ec_set_lender(Unmanaged.passUnretained(self).toOpaque())
        body()
        unsafe ec_set_lender(outer)
    }
}
