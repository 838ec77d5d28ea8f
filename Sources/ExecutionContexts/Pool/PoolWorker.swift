internal import CPlatform
internal import Synchronization

/// One worker of a pool: a ring of jobs, and a thread of the library's while it is active.
///
/// An idle worker has no thread, or one in a timed park. The pool's accounting says which is idle.
@safe final class PoolWorker: BlockingScope, @unchecked Sendable {
    // Unchecked, also at run time: each stored property belongs to one side.
    //
    // - `loneJobHint`, `jobCounter`, `injectedCount` and `shares` belong to the worker's thread.
    // - `begunAtLook` belongs to the monitor.
    // - `record` is reached under the lock of the pool's accounting only.

    /// The jobs that other workers may steal.
    let ring = WorkRing()
    /// How many jobs the worker has begun; written by its thread, read by any.
    private let begun = Atomic<Int>(0)
    /// Whether the worker was found stalled in its present job, and must report after it.
    let isToReport = Atomic<Bool>(false)

    /// Whether the present job was taken as the only one here, so that a job that it submits is
    /// probably the next link of a chain.
    @exclusivity(unchecked) var loneJobHint = false
    /// Counts jobs and searches: for where a search of the other rings starts, and when the next
    /// job comes from `rescued` or from the oldest overflow.
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
        /// The handle by which the monitor reads the state of the thread; -1 while none is awake.
        var thread: Int64 = -1
    }

    /// What the monitor saw at one look at the thread.
    struct Observation {
        var number: UInt32 = 0
        var begun = -1
        /// The time of the look, and the processor time that the thread had used, or -1.
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

        /// Whether the thread has used less than a sixteenth of the time since; nil if not known.
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

    /// The pool outlives its workers: it owns them, and a running worker retains it.
    private let pool: Unmanaged<PoolCore>
    private let number: Int

    init(of core: PoolCore, number: Int) {
        unsafe pool = .passUnretained(core)
        self.number = number
        unsafe super.init(for: UnsafeRawPointer(pool.toOpaque()))
    }

    var core: PoolCore { unsafe pool._withUnsafeGuaranteedRef { $0 } }

    /// Wakes the thread of a worker taken from the idle set, or gets one; false if there is none.
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

    /// What the worker sleeps on while it waits for a permit.
    let permit = ParkWord()

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

    /// How long a thread parks without a job. To wake it costs half of what a new one costs.
    private static let parkDuration: Int64 = 10_000_000

    /// From now on `start` reaches the calling thread; called before the worker joins the idle set.
    ///
    /// Relaxed: the lock of the accounting lies between this and any `start`.
    func beginTimedPark() { parkState.store(.parked, ordering: .relaxed) }

    /// Ends the park before it begins: no other thread has started the worker.
    func endTimedPark() { parkState.store(.away, ordering: .relaxed) }

    /// Relaxed: a figure only.
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

    /// Relaxed: a count only.
    var begunCount: Int { begun.load(ordering: .relaxed) }

    /// Counts a job. Relaxed, and no exchange: only the worker's thread writes.
    @inline(__always)
    func beginJob() { begun.store(begun.load(ordering: .relaxed) &+ 1, ordering: .relaxed) }

    override func beginWait() { core.beginWait(self) }

    override func endWait(_ resumption: BlockingScope.Resumption) { core.endWait(self, resumption) }

    // No `beginCall`: the monitor finds out whether the call sleeps. Most calls do not, and a
    // permit given up for one costs more than the call.
    override func endCall() {
        // Relaxed: `report` reads the accounting under its lock.
        if isToReport.load(ordering: .relaxed) { core.report(self) }
    }
}

/// How one worker divides its time among the queues that have jobs for it.
///
/// While only one queue has jobs, nothing is measured. Else each job is charged to its queue:
///
/// | both have jobs | shares of the time |
/// | --- | --- |
/// | jobs from outside, jobs of the pool's own jobs | 2 : 1, jobs from outside first |
/// | urgent jobs, all others | 4 : 1 |
/// | all others, low-priority jobs | 8 : 1 |
///
/// A debt is the time that a queue gets before the others, in nanoseconds. It is bounded on both
/// sides, so that a job of seconds does not keep a queue out for seconds.
package struct TimeShares {
    package enum Queue: UInt8 { case own, outside, urgent, lowPriority }

    /// Which queues have jobs.
    package struct Waiting {
        package let own, outside, urgent, lowPriority: Bool

        package init(
            own: Bool = false, outside: Bool = false, urgent: Bool = false,
            lowPriority: Bool = false
        ) {
            (self.own, self.outside) = (own, outside)
            (self.urgent, self.lowPriority) = (urgent, lowPriority)
        }

        fileprivate var hasMedium: Bool { own || outside }
    }

    /// The largest debt, and the most that a single job is charged.
    package static var quantum: Int64 { 10_000_000 }
    /// How long a worker stays with its own jobs, or with those from outside, where all are short.
    package static var slice: Int64 { 50_000 }

    private var last = Queue.own
    private var lastTime: Int64 = 0
    private var lastBegun = 0
    private var lastWaiting = Waiting()
    private var (debtToOutside, debtToMedium, debtToLowPriority): (Int64, Int64, Int64) = (0, 0, 0)
    private var isServingOutside = false

    package init() {}

    /// Chooses the queue that the next job comes from. At least one has jobs.
    ///
    /// `begun` counts the worker's jobs. If others ran than those chosen here, no queue is charged.
    package mutating func choose(at now: Int64, begun: Int, from waiting: Waiting) -> Queue {
        if begun > lastBegun + 1 { lastWaiting = Waiting() }
        lastBegun = begun
        charge(at: now, waiting)
        last = next(waiting)
        (lastTime, lastWaiting) = (now, waiting)
        return last
    }

    private mutating func next(_ waiting: Waiting) -> Queue {
        let hasMedium = waiting.hasMedium
        if waiting.lowPriority, !waiting.urgent && !hasMedium || debtToLowPriority >= Self.quantum {
            return .lowPriority
        }
        if waiting.urgent, !hasMedium || debtToMedium < Self.quantum { return .urgent }
        guard waiting.own && waiting.outside else { return waiting.outside ? .outside : .own }
        if isServingOutside ? debtToOutside <= 0 : debtToOutside >= Self.slice {
            isServingOutside.toggle()
        }
        return isServingOutside ? .outside : .own
    }

    private mutating func charge(at now: Int64, _ waiting: Waiting) {
        let passed = max(now - lastTime, 0)
        let elapsed = min(passed, Self.quantum)
        // Outside first where it has jobs anew, unless it had more than its share a moment ago.
        if !lastWaiting.outside || !lastWaiting.own {
            debtToOutside = min(debtToOutside + elapsed, Self.slice)
            isServingOutside = false
        } else if last == .own {
            // Twice, so that a job from outside waits hardly longer than in one common queue.
            debtToOutside = min(debtToOutside + 2 * elapsed, Self.quantum)
        } else if last == .outside {
            debtToOutside = max(debtToOutside - elapsed, -Self.quantum)
        }
        if !(waiting.hasMedium && waiting.urgent && lastWaiting.hasMedium && lastWaiting.urgent) {
            debtToMedium = 0
        } else if last == .urgent {
            debtToMedium = min(debtToMedium + elapsed / 4, 2 * Self.quantum)
        } else {
            debtToMedium = max(debtToMedium - elapsed, 0)
        }
        if !waiting.lowPriority || !lastWaiting.lowPriority {
            debtToLowPriority = 0
        } else if last == .lowPriority {
            debtToLowPriority = max(debtToLowPriority - elapsed, 0)
        } else {
            debtToLowPriority = min(debtToLowPriority + elapsed / 8, 2 * Self.quantum)
        }
    }
}
