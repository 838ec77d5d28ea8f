internal import CPlatform
internal import Synchronization

/// What stands behind a pool: its lines, its workers, and who of them has a thread.
///
/// Workers are not threads. A worker that is called gets one from the system, runs what it finds, looks around,
/// naps, and gives the thread back. At most `width` of them are meant to be getting on at a time; who waits for
/// something is not, and another one may take its place. What each has before it the others may take, so nothing is
/// hidden behind a piece that takes long.
@safe final class PoolCore: Limiter, @unchecked Sendable {
    // Unchecked for the memory of `workers`: a place in it is written before `made` covers it, and not after.

    let name: String
    /// The quality of service of its threads, as `OwnThreads` takes it.
    let quality: UInt32
    /// How many may get on at a time, and how many there may be.
    let (width, limit): (Int, Int)

    let urgent = Injector()
    let line = Injector()
    let patient = Injector()
    let spill = Spill()
    /// What the monitor has found behind jobs that take long.
    let rescued = Injector()
    /// Whether the monitor is about to move jobs from a ring to there, so that they are in neither.
    let isMoving = Atomic<Bool>(false)

    /// How many workers look for work. One suffices: who finds some sees to it that another one looks, if there is more.
    let searching = Atomic<Int>(0)
    /// How many more workers may be called; negative where some are to leave.
    let vacancies: Atomic<Int>

    let roster: Guarded<PoolRoster>
    private let workers: UnsafeMutablePointer<Unmanaged<PoolWorker>>
    private let made = Atomic<Int>(0)
    /// Whether the monitor looks at the pool.
    let isWatched = Atomic<Bool>(false)
    /// Whether the monitor looks rarely, since nothing waits.
    let isUnhurried = Atomic<Bool>(false)

    /// The jobs that wait for another one of the pool.
    let waitingJobs = Guarded(WaitingJobs())

    init(name: String, width: Int, limit: Int, quality: UInt32) {
        (self.name, self.width, self.limit, self.quality) = (name, width, limit, quality)
        vacancies = Atomic(width)
        roster = Guarded(PoolRoster(width: width))
        unsafe workers = .allocate(capacity: limit)
    }

    deinit {
        // Whoever works holds the pool, so all are at rest, and nothing waits.
        for index in 0..<count { unsafe workers[index].release() }
        unsafe workers.deallocate()
    }

    /// How many workers there are. Acquiring: they can be read.
    var count: Int { made.load(ordering: .acquiring) }

    /// A worker; for numbers below `count`.
    func worker(_ index: Int) -> PoolWorker { unsafe workers[index]._withUnsafeGuaranteedRef { $0 } }

    // MARK: - Submitting

    /// Takes a piece of work; false, and it is let go of, if the pool has been shut down and it has not been accepted before.
    @inline(__always)
    func submit(_ work: LooseWork, _ priority: WorkPriority, isAccepted: Bool = false) -> Bool {
        if priority == .medium, isAccepted || !isClosed, let lender = unsafe ec_lender() {
            let isIn = unsafe Unmanaged<LentThread>.fromOpaque(lender)._withUnsafeGuaranteedRef { lender in
                // Those that lend for a pool are its workers.
                unsafe lender.owner == UnsafeRawPointer(Unmanaged.passUnretained(self).toOpaque())
                    && add(work, to: unsafeDowncast(lender, to: PoolWorker.self))
            }
            if isIn { return true }
        }
        return inject(work, priority, isAccepted: isAccepted)
    }

    /// Adds it to the ring of the worker that the calling thread is.
    @inline(__always)
    func add(_ work: LooseWork, to worker: PoolWorker) -> Bool {
        if !worker.ring.hasRoom { spill.append(contentsOf: worker.ring, allBut: WorkRing.capacity / 2) }
        let waiting = worker.ring.append(work)
        // The next link of a chain is run by who made it. Were somebody called for it, that one would come too late
        // each time.
        if unsafe waiting > 1 || !worker.isLone { callIfShort() }
        return true
    }

    @inline(never)
    private func inject(_ work: LooseWork, _ priority: WorkPriority, isAccepted: Bool) -> Bool {
        let isIn =
            switch priority {
            case .high, .highest: urgent.append(work, isAccepted: isAccepted)
            // What comes by a timer is late already: it does not wait behind a worker that feeds itself.
            case .medium where isAccepted: urgent.append(work, isAccepted: true)
            case .medium: line.append(work, isAccepted: false)
            case .low, .lowest: patient.append(work, isAccepted: isAccepted)
            }
        guard isIn else { return false }
        Seam.leaves(for: name)
        // Either this thread sees that nobody looks for work any more, or who has stopped looking sees this work.
        atomicMemoryFence(ordering: .sequentiallyConsistent)
        callIfShort()
        hurryMonitor()
        return true
    }

    /// Something waits now.
    @inline(__always)
    func hurryMonitor() {
        // Relaxed, here and below: a hint, without which the next look comes by itself.
        if isUnhurried.load(ordering: .relaxed), vacancies.load(ordering: .relaxed) <= 0 { wakeMonitor() }
    }

    @inline(never)
    private func wakeMonitor() {
        if isUnhurried.exchange(false, ordering: .relaxed) { PoolMonitor.hurry() }
    }

    // MARK: - Calling workers

    /// Calls a worker if one may be called and none looks for work.
    ///
    /// Relaxed: who must not miss anything has passed a fence. Who has work in its own ring looks again after each piece.
    @inline(__always)
    func callIfShort() {
        if vacancies.load(ordering: .relaxed) > 0, searching.load(ordering: .relaxed) == 0 { callWorker() }
    }

    /// Calls a worker, if one may be called; true if it comes.
    @inline(never)
    @discardableResult
    func callWorker() -> Bool {
        var called: PoolWorker?
        var isFirst = false
        roster.withLock { roster in
            guard roster.hasVacancy, let worker = roster.resting.popLast() ?? make() else { return }
            isFirst = roster.active == 0
            roster.begin(worker)
            publish(&roster)
            // On its behalf, so that nobody else is called until it has looked. Relaxed: see `callIfShort`.
            searching.add(1, ordering: .relaxed)
            called = worker
        }
        guard let called else { return false }
        // The first one of each pool may not be refused, so that no pool stands still for the
        // threads of others.
        if called.call(isFirst: isFirst) {
            if isFirst { PoolMonitor.watch(self) }
            return true
        }
        dismiss(called)
        return false
    }

    /// There is no thread for a worker that has been called. The monitor tries again.
    private func dismiss(_ worker: PoolWorker) {
        roster.withLock { roster in
            roster.end(worker)
            publish(&roster)
        }
        // In one order with what the others submit and then read: whoever called nobody because of
        // this one is seen below.
        searching.subtract(1, ordering: .sequentiallyConsistent)
        if !isAwake {
            if hasWork() { callWorker() } else { tellOfTheEnd() }
        }
    }

    /// Makes a worker, if there may be more. The roster is locked.
    private func make() -> PoolWorker? {
        let index = count
        guard index < limit else { return nil }
        let worker = PoolWorker(of: self, number: index + 1)
        unsafe (workers + index).initialize(to: .passRetained(worker))
        // An exchange, and releasing: who sees the new count sees the worker, and its reference has been counted.
        _ = made.exchange(index + 1, ordering: .releasing)
        return worker
    }

    /// Gives free places to those that wait for one, and shows how many may be called. The roster
    /// is locked.
    func publish(_ roster: inout PoolRoster) {
        roster.admitReturning()
        // Relaxed: a hint. Who relies on it has passed a fence, or looks again under the lock.
        vacancies.store(roster.vacancies, ordering: .relaxed)
    }

    // MARK: - What waits

    /// Whether there is work that nobody has begun, as far as one can see from outside.
    ///
    /// A single piece before a worker that is getting on is that one's, and no work for another.
    func hasWork() -> Bool {
        if !urgent.isEmpty || !line.isEmpty || !spill.isEmpty || !rescued.isEmpty || !patient.isEmpty {
            return true
        }
        for index in 0..<count where worker(index).ring.count > 0 {
            if worker(index).ring.count > 1 || isHeldUp(worker(index)) { return true }
        }
        // Once more: a ring may have laid down its work after the first look, and before its turn.
        // Acquiring: who finds a ring empty that the monitor has taken from finds the mark, or else
        // the job.
        return !spill.isEmpty || isMoving.load(ordering: .acquiring) || !rescued.isEmpty
    }

    /// Whether a worker has something before it and does not begin it, for longer than a small piece takes.
    func isHeldUp(_ worker: PoolWorker) -> Bool {
        let pieces = worker.pieces
        for _ in 0..<8 {
            ec_relax()
            if worker.pieces != pieces { return false }
        }
        return worker.ring.count > 0
    }

    // MARK: - The end

    var isClosed: Bool { closed.load(ordering: .relaxed) }  // Relaxed: each line's lock says for certain.
    private let closed = Atomic<Bool>(false)

    /// Takes nothing more but what has been accepted.
    func close() {
        closed.store(true, ordering: .relaxed)
        urgent.close()
        line.close()
        patient.close()
    }
}
