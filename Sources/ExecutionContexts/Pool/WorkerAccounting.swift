/// Which workers own a thread, and which of those run. Reached under the pool's lock.
///
/// A worker runs if it owns a thread and is not known to be blocked; it then holds one of `width`
/// permits, or runs beyond the width.
@safe struct WorkerAccounting: ~Copyable {
    /// Workers without a job. The last to join is the first to start.
    var idle: [PoolWorker] = []
    /// How many workers have a thread.
    private(set) var active = 0
    /// The active workers, and the idle ones that park.
    var threads: Int { active + idle.count { $0.isParked } }
    /// How many of the active workers run, as far as is known.
    private(set) var running = 0
    /// How many of those have continued while no permit was free.
    private var beyond = 0
    /// How many workers are stalled: each may continue at any time, without a permit.
    private var stalled = 0
    /// How often a worker was found stalled.
    private(set) var stalls = 0
    /// How often the monitor has looked.
    var observationCount: UInt32 = 0
    /// Whether a worker has had a thread at the monitor's latest look or since.
    private var hasRunSinceLook = false
    /// How many more looks come quickly.
    private var quickLooks = 0
    /// What is called once no job runs and none is queued.
    var waiters: [@Sendable () -> Void] = []
    /// Workers that have ended a wait and wait for a permit, in order.
    private var returning = FIFO<PoolWorker>()
    private let width: Int

    init(width: Int) { self.width = width }

    /// How many workers may start; negative where some are to leave.
    var vacancies: Int { width - running - returning.count }
    var hasVacancy: Bool { vacancies > 0 }
    var hasReturning: Bool { !returning.isEmpty }
    /// How many workers may run without a permit: no more than `width + substitutes` run.
    var substitutes: Int { stalled + beyond }
    /// Whether a worker that has ended a wait may continue at once.
    var hasFreePermit: Bool { running < width && returning.isEmpty }

    mutating func appendReturning(_ worker: PoolWorker) {
        unsafe worker.record.isReturning = true
        returning.append(worker)
    }

    /// Gives each free permit to a worker that waits for one.
    mutating func admitReturning() {
        while running < width, let worker = returning.popFirst() {
            unsafe worker.record.isReturning = false
            markRunning(worker)
            worker.permit.unpark()
        }
    }

    /// Counts a worker that is being started.
    mutating func begin(_ worker: PoolWorker) {
        unsafe worker.record.isActive = true
        hasRunSinceLook = true
        active += 1
        count(worker)
    }

    /// Whether no worker has had a thread since the monitor's latest look; records another look.
    mutating func hasSleptSinceLook() -> Bool {
        defer { hasRunSinceLook = active > 0 }
        return !hasRunSinceLook
    }

    /// Whether the next look comes quickly; called once for each look at which jobs are queued.
    ///
    /// Where workers stall and none computes, those that are started next most likely stall, too.
    mutating func isStarved(findsOnlySleepers: Bool) -> Bool {
        if findsOnlySleepers {
            // Enough for a new thread to begin its job, and for three looks at it.
            quickLooks = 8
        } else if quickLooks > 0 {
            quickLooks -= 1
        }
        return quickLooks > 0
    }

    /// Counts a worker as not running, since the monitor has found it stalled.
    mutating func markStalled(_ worker: PoolWorker) {
        markNotRunning(worker)
        unsafe worker.record.isStalled = true
        stalled += 1
        stalls += 1
    }

    /// Adds a worker that has no job to the idle set.
    mutating func moveToIdleSet(_ worker: PoolWorker) {
        markNotRunning(worker)
        endStall(worker)
        unsafe worker.record.isActive = false
        // Until a started worker has its thread, it must not look asleep in a job.
        unsafe worker.record.thread = -1
        unsafe worker.record.lastObservation = PoolWorker.Observation()
        active -= 1
        idle.append(worker)
    }

    /// Takes back a worker that is about to park; false without a permit, or if it was started.
    mutating func takeBack(_ worker: PoolWorker) -> Bool {
        // In most cases the last one.
        guard hasVacancy, let index = idle.lastIndex(where: { $0 === worker }) else { return false }
        idle.remove(at: index)
        begin(worker)
        return true
    }

    /// Counts a worker as running that has continued, whether or not there is a permit.
    mutating func markRunning(_ worker: PoolWorker) {
        guard unsafe !worker.record.isCounted else { return }
        if running - beyond >= width { beyond += 1 }
        count(worker)
    }

    private mutating func count(_ worker: PoolWorker) {
        guard unsafe !worker.record.isCounted else { return }
        endStall(worker)
        unsafe worker.record.isCounted = true
        running += 1
    }

    /// Counts a worker as not running. Its permit goes to a worker that runs without one.
    mutating func markNotRunning(_ worker: PoolWorker) {
        guard unsafe worker.record.isCounted else { return }
        unsafe worker.record.isCounted = false
        running -= 1
        if beyond > 0 { beyond -= 1 }
    }

    /// Counts a worker as one that waits and reports when it continues.
    mutating func beginWait(_ worker: PoolWorker) {
        unsafe worker.record.waits += 1
        markNotRunning(worker)
        endStall(worker)
    }

    private mutating func endStall(_ worker: PoolWorker) {
        guard unsafe worker.record.isStalled else { return }
        unsafe worker.record.isStalled = false
        stalled -= 1
    }

    mutating func takeWaiters() -> [@Sendable () -> Void] {
        defer { waiters = [] }
        return waiters
    }
}
