internal import CPlatform
internal import Synchronization

/// One of those who run a pool's work: a ring of work, and one of the library's threads while there
/// is any.
///
/// A worker is active or at rest, where it has no thread, or one that naps. The pool's roster says which.
@safe final class PoolWorker: LentThread, @unchecked Sendable {
    // Unchecked: what is said to be the thread's belongs to the thread that has this worker, and
    // what is the monitor's to that; the roster's part is reached under the lock of the pool only.
    // So the run-time exclusivity checks are superfluous.

    /// The work that the others may take from it.
    let ring: WorkRing
    /// How many pieces it has begun; written by its thread, read by those who watch.
    private let begun = Atomic<Int>(0)
    /// Whether the worker was found stalled in the job under way, and says so to the roster after
    /// it.
    let isToReport = Atomic<Bool>(false)

    /// Whether the piece under way was the only one here when it was taken, so that what it adds goes on a chain.
    @exclusivity(unchecked) var isLone = false
    /// Where the search for work among the others starts, and how many jobs until the oldest
    /// overflow is looked at. The thread's, as are the next two.
    @exclusivity(unchecked) var turns: UInt32 = 0
    /// How many jobs in the ring came from outside, before all of its own.
    @exclusivity(unchecked) var granted = 0
    @exclusivity(unchecked) var shares = TimeShares()

    /// The monitor's: what it had begun at the last look.
    @exclusivity(unchecked) var begunAtLook = -1

    /// The roster's: what it knows of this worker.
    @exclusivity(unchecked) var place = Place()

    struct Place {
        /// Whether it has a thread.
        var isActive = false
        /// Whether it is one of those that are thought to be getting on.
        var isCounted = false
        /// How many waits it is in, one within the other.
        var waits = 0
        /// Whether it has waited and has not got a place yet.
        var isReturning = false
        var seen = Look()
        /// By which the monitor asks what its thread is doing; -1 while it has none that is awake.
        var thread: Int64 = -1
    }

    /// What the monitor saw when it last looked at the thread.
    struct Look {
        /// The number of the look.
        var look: UInt32 = 0
        var begun = -1
        /// The moment, and the processor time that the thread had used; -1 if that is not known.
        var time: Int64 = 0
        var used: Int64 = -1
        /// How many signs say that it sleeps: four for each look that found it asleep.
        var signs = 0

        init() {}

        init(of worker: PoolWorker, number: UInt32) {
            (look, begun, time) = (number, worker.pieces, MonotonicClock.nanoseconds)
            let thread = unsafe worker.place.thread
            used = thread < 0 ? -1 : ec_thread_time(thread)
        }

        /// Whether the thread has used less than a sixteenth of the time since; nil if the system
        /// does not say.
        func wasQuiet(since before: Look) -> Bool? {
            if used < 0 || before.used < 0 { return nil }
            return used - before.used < (time - before.time) / 16
        }
    }

    /// Its pool, which outlives it: the pool owns its workers, and a running worker retains the pool.
    private let pool: Unmanaged<PoolCore>
    private let number: Int

    init(of core: PoolCore, number: Int) {
        ring = WorkRing()
        unsafe pool = .passUnretained(core)
        self.number = number
        unsafe super.init(for: UnsafeRawPointer(pool.toOpaque()))
    }

    var core: PoolCore { unsafe pool._withUnsafeGuaranteedRef { $0 } }

    /// Has the worker's thread come; for who has taken it from those at rest. False if there is no
    /// thread for it.
    ///
    /// The first one of a pool is refused none.
    func call(isFirst: Bool) -> Bool {
        // Releasing: who naps sees what the caller did. Acquiring is for who naps.
        let nap = nap.compareExchange(
            expected: Self.naps, desired: Self.isCalled, successOrdering: .releasing,
            failureOrdering: .relaxed)
        if nap.exchanged {
            unsafe withUnsafePointer(to: self.nap) { unsafe ec_wake_one($0) }
            return true
        }
        let core = core
        return OwnThreads.run(
            .init(name: "\(core.name).\(number)", quality: core.quality, isIndispensable: isFirst) {
                core.work(self)
            })
    }

    // MARK: - Places

    /// What it sleeps on while it waits for a place: one when it has been given one.
    private let placeWord = Atomic<UInt32>(0)

    /// Sleeps until it has been given a place; on its own thread.
    func waitForPlace() {
        // Acquiring: the lock orders the rest.
        while placeWord.load(ordering: .acquiring) == 0 {
            unsafe withUnsafePointer(to: placeWord) { unsafe ec_wait($0, 0, Parker.never) }
        }
        placeWord.store(0, ordering: .relaxed)  // Relaxed: nobody gives another one until it has asked.
    }

    /// Gives it the place that it waits for. The roster is locked.
    func givePlace() {
        placeWord.store(1, ordering: .releasing)
        unsafe withUnsafePointer(to: placeWord) { unsafe ec_wake_one($0) }
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

    /// The pieces it has begun.
    var pieces: Int { begun.load(ordering: .relaxed) }  // Relaxed: a figure.

    /// Counts a piece. Relaxed, and no exchange: nobody else writes.
    @inline(__always)
    func beginPiece() { begun.store(begun.load(ordering: .relaxed) &+ 1, ordering: .relaxed) }

    // MARK: - The thread that has it

    override func beginWait() { core.beginWait(self) }

    override func endWait(_ return: LentThread.Return) { core.endWait(self, `return`) }

    // The monitor finds out whether the call sleeps: most do not, and room that is made for them
    // costs more than they do.
    override func endCall() {
        if isToReport.load(ordering: .relaxed) { core.report(self) }  // Relaxed: see the monitor.
    }
}
