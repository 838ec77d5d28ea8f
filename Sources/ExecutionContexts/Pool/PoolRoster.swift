/// Worker accounting: which workers own a thread, and which of those are not blocked. Reached under
/// the pool's lock.
@safe struct PoolRoster: ~Copyable {
    /// Those without a thread, the last to come first.
    var resting: [PoolWorker] = []
    /// How many have a thread.
    private(set) var active = 0
    /// How many of those are getting on, as far as is known.
    private(set) var running = 0
    /// How many more may, because those that have a thread are stalled all together.
    var extra = 0
    /// How often a worker was found stalled, was called in expectation of that, or went on after a
    /// wait without a place. The pool has been wider by this number at most.
    private(set) var substitutes = 0
    /// How often the monitor has looked.
    var looks: UInt32 = 0
    /// The callbacks of `drained()`.
    var waiters: [@Sendable () -> Void] = []
    /// Those that have waited and may go on when there is a place, in order.
    private var returning: ArraySlice<PoolWorker> = []
    private let width: Int

    init(width: Int) { self.width = width }

    /// How many may be called; negative where some are to leave.
    var vacancies: Int { width + extra - running - returning.count }
    var hasVacancy: Bool { vacancies > 0 }
    var hasReturning: Bool { !returning.isEmpty }
    /// Whether a worker that has waited may go on at once.
    var hasPlace: Bool { running < width && returning.isEmpty }

    mutating func appendReturning(_ worker: PoolWorker) {
        unsafe worker.place.isReturning = true
        returning.append(worker)
    }

    /// Gives each free place to a worker that has waited for one.
    mutating func admitReturning() {
        while running < width, let worker = returning.popFirst() {
            unsafe worker.place.isReturning = false
            count(worker)
            worker.givePlace()
        }
    }

    /// A worker is called.
    mutating func begin(_ worker: PoolWorker) {
        unsafe worker.place.isActive = true
        active += 1
        if running >= width { substitutes += 1 }
        count(worker)
    }

    /// The monitor has found a worker stalled.
    mutating func replace(_ worker: PoolWorker) {
        substitutes += 1
        discount(worker)
    }

    /// A worker gives its thread back.
    mutating func end(_ worker: PoolWorker) {
        discount(worker)
        unsafe worker.place.isActive = false
        // Whoever calls it does not make it come at once: until then it is not asleep in a job.
        unsafe worker.place.thread = -1
        unsafe worker.place.seen = PoolWorker.Look()
        active -= 1
        resting.append(worker)
    }

    /// A worker has been called back before it gave its thread back; true if it is this caller that goes on.
    mutating func takeBack(_ worker: PoolWorker) -> Bool {
        // In most cases the last one.
        guard hasVacancy, let index = resting.lastIndex(where: { $0 === worker }) else { return false }
        resting.remove(at: index)
        begin(worker)
        return true
    }

    mutating func count(_ worker: PoolWorker) {
        guard unsafe !worker.place.isCounted else { return }
        unsafe worker.place.isCounted = true
        running += 1
    }

    mutating func discount(_ worker: PoolWorker) {
        guard unsafe worker.place.isCounted else { return }
        unsafe worker.place.isCounted = false
        running -= 1
    }

    /// A worker that has waited goes on, whether or not there is a place.
    mutating func resume(_ worker: PoolWorker) {
        if running >= width { substitutes += 1 }
        count(worker)
    }

    /// Moves the callbacks of the end out, if it has come.
    mutating func takeWaiters() -> [@Sendable () -> Void] {
        guard active == 0 else { return [] }
        defer { waiters = [] }
        return waiters
    }
}
