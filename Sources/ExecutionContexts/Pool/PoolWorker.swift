internal import CPlatform
internal import Dispatch
internal import Synchronization

/// One of those who run a pool's work: a ring of work, and a lane by which it gets a thread while there is any.
///
/// A worker is active, with a thread, or at rest, without one. The pool's roster says which.
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
        /// By which the watch asks what its thread is doing.
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

    /// Has the worker's thread come.
    func call() {
        let core = core
        lane.async { core.work(self) }
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
