internal import CPlatform
internal import Synchronization

/// One worker of a pool: a ring of jobs, and a thread of the library's while it is active.
///
/// A worker is active or idle. An idle worker has no thread, or one in a timed park. The pool's
/// accounting says which.
@safe final class PoolWorker: BlockingScope, @unchecked Sendable {
    // Unchecked: each stored property belongs to one side, so the run-time exclusivity checks are
    // superfluous.
    //
    // - `loneJobHint`, `jobCounter`, `injectedCount` and `shares` belong to the worker's thread.
    // - `begunAtLook` belongs to the monitor.
    // - `record` is reached under the lock of the pool's accounting only.

    /// The jobs that other workers may steal.
    let ring: WorkRing
    /// How many jobs the worker has begun; written by its thread, read by any.
    private let begun = Atomic<Int>(0)
    /// Whether the worker was found stalled in its present job, and must report to the accounting
    /// after it.
    let isToReport = Atomic<Bool>(false)

    /// Whether the present job was the only one here when it was taken, so a job that it submits is
    /// probably the next link of a chain.
    @exclusivity(unchecked) var loneJobHint = false
    /// Counts jobs and searches. It says where a search of the other rings starts, and when the
    /// next job comes from `rescued` or from the oldest overflow.
    @exclusivity(unchecked) var jobCounter: UInt32 = 0
    /// How many jobs in the ring came from the injector, before any of the worker's own.
    @exclusivity(unchecked) var injectedCount = 0
    @exclusivity(unchecked) var shares = TimeShares()

    /// How many jobs the worker had begun at the monitor's last look.
    @exclusivity(unchecked) var begunAtLook = -1

    /// What the accounting knows of this worker.
    @exclusivity(unchecked) var record = Record()

    struct Record {
        /// Whether it has a thread.
        var isActive = false
        /// Whether it counts as running: it has a thread, and is not known to be blocked.
        var isCounted = false
        /// How many waits it is in, one nested in the other.
        var waits = 0
        /// Whether it has ended a wait and waits for a permit.
        var isReturning = false
        /// Whether it was found stalled, and is not known to have continued since.
        var isStalled = false
        var lastObservation = Observation()
        /// The handle by which the monitor asks for the state of the thread; -1 while none is
        /// awake.
        var thread: Int64 = -1
    }

    /// What the monitor saw at one look at the thread.
    struct Observation {
        /// The number of the look.
        var number: UInt32 = 0
        var begun = -1
        /// The time of the look, and the processor time that the thread had used; -1 if that is not
        /// known.
        var time: Int64 = 0
        var used: Int64 = -1
        /// The evidence that the thread sleeps, summed over the looks at one job; see `SleepScore`.
        var sleepScore = 0

        init() {}

        init(of worker: PoolWorker, number: UInt32) {
            (self.number, begun, time) = (number, worker.begunCount, MonotonicClock.nanoseconds)
            let thread = unsafe worker.record.thread
            used = thread < 0 ? -1 : ec_thread_time(thread)
        }

        /// Whether the thread has used less than a sixteenth of the time since; nil if the system
        /// does not say.
        func wasQuiet(since before: Observation) -> Bool? {
            if used < 0 || before.used < 0 { return nil }
            return used - before.used < (time - before.time) / 16
        }
    }

    /// How much evidence one look adds that the thread sleeps, and how much makes it stalled.
    enum SleepScore {
        /// The system says that the thread is asleep.
        static let asleep = 4
        /// The thread waits for a page of memory, or its state is unknown and it is quiet.
        static let quiet = 1
        /// Three looks at a thread that is asleep, or a dozen at a quiet one.
        static let stalled = 12
    }

    /// The worker's pool, which outlives it: the pool owns its workers, and a running worker
    /// retains the pool.
    private let pool: Unmanaged<PoolCore>
    private let number: Int

    init(of core: PoolCore, number: Int) {
        ring = WorkRing()
        unsafe pool = .passUnretained(core)
        self.number = number
        unsafe super.init(for: UnsafeRawPointer(pool.toOpaque()))
    }

    var core: PoolCore { unsafe pool._withUnsafeGuaranteedRef { $0 } }

    /// Gives the worker a thread, for the thread that took it from the idle set: wakes its parked
    /// one, or gets one. False if there is none.
    ///
    /// With `isFirst` the system's refusal is fatal and the limit does not apply, so a pool with
    /// jobs has at least one thread.
    func start(isFirst: Bool) -> Bool {
        // Releasing: the parked thread sees what the caller did. Relaxed on failure: the caller
        // reads nothing that the parked thread wrote.
        let exchange = parkState.compareExchange(
            expected: .parked, desired: .started, successOrdering: .releasing,
            failureOrdering: .relaxed)
        if exchange.exchanged {
            unsafe withUnsafePointer(to: self.parkState) { unsafe ec_wake_one($0) }
            return true
        }
        let core = core
        return LibraryThreads.run(
            .init(name: "\(core.name).\(number)", quality: core.qos, isIndispensable: isFirst) {
                core.work(self)
            })
    }

    // MARK: - Permits

    /// What the worker sleeps on while it waits for a permit.
    private let permit = ParkWord()

    /// Sleeps until the worker has been given a permit; on the worker's thread.
    func waitForPermit() { permit.park() }

    /// Gives the worker the permit that it waits for. The caller holds the lock of the accounting.
    func givePermit() { permit.unpark() }

    // MARK: - Timed park

    /// The state of an idle worker's thread.
    ///
    /// | state | the thread | next |
    /// | --- | --- | --- |
    /// | `away` | none, or one that runs jobs | `parked`, by the thread |
    /// | `parked` | parks, or is about to | `started`, by `start`; `away`, by the thread |
    /// | `started` | returns to its jobs | `away`, by the thread |
    private let parkState = Atomic<ParkState>(.away)
    private enum ParkState: UInt32, AtomicRepresentable { case away, parked, started }

    /// How long a thread parks without a job. To wake it costs half of what a thread from the
    /// system costs.
    private static let parkDuration: Int64 = 10_000_000

    /// From now on `start` reaches the calling thread; called before the worker joins the idle set.
    ///
    /// Relaxed: the lock of the accounting lies between this and any `start`.
    func beginTimedPark() { parkState.store(.parked, ordering: .relaxed) }

    /// Ends the park before it began: the worker continues, and no other thread has started it.
    func endTimedPark() { parkState.store(.away, ordering: .relaxed) }

    /// Whether the worker, which is idle, keeps a thread. Relaxed: a figure only.
    var isParked: Bool { parkState.load(ordering: .relaxed) == .parked }

    /// Parks until another thread starts the worker (true) or the park has lasted its time (false).
    func isStartedWhileParked() -> Bool {
        let end = MonotonicClock.nanoseconds + Self.parkDuration
        // Acquiring, here and below: sees what the thread that called `start` did.
        while parkState.load(ordering: .acquiring) == .parked,
            MonotonicClock.nanoseconds < end
        {
            unsafe withUnsafePointer(to: parkState) {
                unsafe ec_wait($0, ParkState.parked.rawValue, end)
            }
        }
        return parkState.exchange(.away, ordering: .acquiring) == .started
    }

    /// How many jobs the worker has begun.
    var begunCount: Int { begun.load(ordering: .relaxed) }  // Relaxed: a count only.

    /// Counts a job. Relaxed, and no exchange: only the worker's thread writes.
    @inline(__always)
    func beginJob() { begun.store(begun.load(ordering: .relaxed) &+ 1, ordering: .relaxed) }

    // MARK: - Blocking scope

    override func beginWait() { core.beginWait(self) }

    override func endWait(_ resumption: BlockingScope.Resumption) { core.endWait(self, resumption) }

    // The monitor finds out whether the call sleeps. Most calls do not, and a permit given up for
    // one costs more than the call.
    override func endCall() {
        // Relaxed: `report` reads the accounting under its lock.
        if isToReport.load(ordering: .relaxed) { core.report(self) }
    }
}
