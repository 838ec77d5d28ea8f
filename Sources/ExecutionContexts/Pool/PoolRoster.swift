/// Who of a pool's workers has a thread, and who of those is getting on. Reached under the pool's lock.
@safe struct PoolRoster: ~Copyable {
    /// Those without a thread, the last to come first.
    var resting: [PoolWorker] = []
    /// How many have a thread.
    private(set) var active = 0
    /// How many of those are getting on, as far as one knows.
    private(set) var running = 0
    /// How many more may, because those who have a thread are stuck all together.
    var extra = 0
    /// Who wants to know when nothing is left to do.
    var waiters: [@Sendable () -> Void] = []
    private let width: Int

    init(width: Int) { self.width = width }

    /// How many may be called.
    var vacancies: Int { width + extra - running }
    var hasVacancy: Bool { vacancies > 0 }

    /// A worker is called.
    mutating func begin(_ worker: PoolWorker) {
        unsafe worker.place.isActive = true
        active += 1
        count(worker)
    }

    /// A worker gives its thread back.
    mutating func end(_ worker: PoolWorker) {
        discount(worker)
        unsafe worker.place.isActive = false
        // Whoever calls it does not make it come at once: until then it is not asleep in a piece.
        unsafe worker.place.thread = -1
        unsafe worker.place.seenAsleep = false
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

    /// Moves those out who wait for the end, if it has come.
    mutating func takeWaiters() -> [@Sendable () -> Void] {
        guard active == 0 else { return [] }
        defer { waiters = [] }
        return waiters
    }
}
