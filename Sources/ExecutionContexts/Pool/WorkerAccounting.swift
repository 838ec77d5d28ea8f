/// Worker accounting: which workers own a thread, and which of those run. Reached under the pool's
/// lock.
///
/// A worker runs if it owns a thread and is not known to be blocked; it then holds one of `width`
/// permits, or runs beyond the width.
@safe struct WorkerAccounting: ~Copyable {
    /// The idle set: workers without a job. The last to join is the first to start.
    var idle: [PoolWorker] = []
    /// How many workers have a thread.
    private(set) var active = 0
    /// How many workers have a thread, with the idle ones that park.
    var threads: Int { active + idle.count { $0.isParked } }
    /// How many of the active workers run, as far as is known.
    private(set) var running = 0
    /// How many more may start because all active workers are stalled.
    var extraPermits = 0
    /// On how many occasions a worker could run beyond the width.
    ///
    /// One is that a worker was found stalled, so that another one may start. The others are that a
    /// worker was started, or continued after a wait, while no permit was free. At no time did more
    /// than `width + substitutions` workers run.
    private(set) var substitutions = 0
    /// How often a worker has continued after a stall or a wait.
    private var resumptions = 0
    /// How often the monitor has looked.
    var observationCount: UInt32 = 0
    /// How often a first worker has got a thread; and how often at the monitor's latest look.
    private var awakenings: UInt32 = 0
    private var awakeningsAtLook: UInt32 = 0
    private var wasActiveAtLook = false
    /// The callbacks of `drained()`.
    var waiters: [@Sendable () -> Void] = []
    /// Workers that have ended a wait and wait for a permit, in order.
    private var returning = FIFO<PoolWorker>()
    private let width: Int

    init(width: Int) { self.width = width }

    /// How many workers may start; negative where some are to leave.
    var vacancies: Int { width + extraPermits - running - returning.count }
    var hasVacancy: Bool { vacancies > 0 }
    var hasReturning: Bool { !returning.isEmpty }
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
            worker.givePermit()
        }
    }

    /// Counts a worker that is being started.
    mutating func begin(_ worker: PoolWorker) {
        unsafe worker.record.isActive = true
        if active == 0 { awakenings &+= 1 }
        active += 1
        if running >= width { substitutions += 1 }
        count(worker)
        unsafe worker.record.resumptionsAtStart = resumptions
    }

    /// Whether a worker that has started must leave before it begins a job: another one has
    /// continued since, so that too many run.
    ///
    /// One that was started because all others were stalled may run beyond the width while they
    /// still are.
    func isSuperfluous(_ worker: PoolWorker) -> Bool {
        unsafe vacancies < 0 && worker.record.resumptionsAtStart != resumptions
    }

    /// Whether no worker has had a thread since the monitor's latest look; notes another look.
    mutating func hasSleptSinceLook() -> Bool {
        defer { (awakeningsAtLook, wasActiveAtLook) = (awakenings, active > 0) }
        return active == 0 && !wasActiveAtLook && awakenings == awakeningsAtLook
    }

    /// Counts a worker as not running, since the monitor has found it stalled.
    mutating func markStalled(_ worker: PoolWorker) {
        substitutions += 1
        markNotRunning(worker)
    }

    /// Adds a worker that has no job to the idle set.
    mutating func moveToIdleSet(_ worker: PoolWorker) {
        markNotRunning(worker)
        unsafe worker.record.isActive = false
        // A started worker does not have its thread at once. Until then it must not look asleep in
        // a job.
        unsafe worker.record.thread = -1
        unsafe worker.record.lastObservation = PoolWorker.Observation()
        active -= 1
        idle.append(worker)
    }

    /// Takes an idle worker back that is about to park; false if there is no permit, or another
    /// thread has started it.
    mutating func takeBack(_ worker: PoolWorker) -> Bool {
        // In most cases the last one.
        guard hasVacancy, let index = idle.lastIndex(where: { $0 === worker }) else { return false }
        idle.remove(at: index)
        begin(worker)
        return true
    }

    /// Counts a worker as running that has continued.
    mutating func markRunning(_ worker: PoolWorker) {
        guard unsafe !worker.record.isCounted else { return }
        resumptions += 1
        count(worker)
    }

    private mutating func count(_ worker: PoolWorker) {
        guard unsafe !worker.record.isCounted else { return }
        unsafe worker.record.isCounted = true
        running += 1
    }

    mutating func markNotRunning(_ worker: PoolWorker) {
        guard unsafe worker.record.isCounted else { return }
        unsafe worker.record.isCounted = false
        running -= 1
    }

    /// Counts a worker that has ended a wait, whether or not there is a permit.
    mutating func resume(_ worker: PoolWorker) {
        if running >= width { substitutions += 1 }
        markRunning(worker)
    }

    /// Takes the callbacks of `drained()` if no worker is active.
    mutating func takeWaiters() -> [@Sendable () -> Void] {
        guard active == 0 else { return [] }
        defer { waiters = [] }
        return waiters
    }
}
