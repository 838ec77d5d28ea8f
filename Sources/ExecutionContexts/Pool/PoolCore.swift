internal import CPlatform
internal import Dispatch
internal import Synchronization

/// What stands behind a pool: its lines, its workers, and who of them has a thread.
///
/// Workers are not threads. A worker that is called gets one from the system, runs what it finds, looks around,
/// naps, and gives the thread back. At most `width` of them are meant to be getting on at a time; who waits for
/// something is not, and another one may take its place. What each has before it the others may take, so nothing is
/// hidden behind a piece that takes long.
@safe final class PoolCore: @unchecked Sendable {
    // Unchecked for the memory of `workers`: a place in it is written before `made` covers it, and not after.

    let name: String
    let quality: DispatchQoS
    /// How many may get on at a time, and how many there may be.
    let (width, limit): (Int, Int)

    let urgent = Injector()
    let line = Injector()
    let patient = Injector()
    let spill = Spill()

    /// How many workers look for work. One suffices: who finds some sees to it that another one looks, if there is more.
    let searching = Atomic<Int>(0)
    /// How many more workers may be called; negative where some are to leave.
    let vacancies: Atomic<Int>

    let roster: Guarded<PoolRoster>
    private let workers: UnsafeMutablePointer<Unmanaged<PoolWorker>>
    private let made = Atomic<Int>(0)
    let watch: PoolWatch

    init(name: String, width: Int, limit: Int, quality: DispatchQoS) {
        (self.name, self.width, self.limit, self.quality) = (name, width, limit, quality)
        vacancies = Atomic(width)
        roster = Guarded(PoolRoster(width: width))
        unsafe workers = .allocate(capacity: limit)
        watch = PoolWatch(name: name)
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
        if priority == .medium, isAccepted || !isClosed, let worker = unsafe ec_lender() {
            let isIn = unsafe Unmanaged<PoolWorker>.fromOpaque(worker)._withUnsafeGuaranteedRef { worker in
                worker.isOf(self) && add(work, to: worker)
            }
            if isIn { return true }
        }
        return inject(work, priority, isAccepted: isAccepted)
    }

    /// Adds it to the ring of the worker that the calling thread is.
    @inline(__always)
    private func add(_ work: LooseWork, to worker: PoolWorker) -> Bool {
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
        return true
    }

    // MARK: - Calling workers

    /// Calls a worker if one may be called and none looks for work.
    ///
    /// Relaxed: who must not miss anything has passed a fence. Who has work in its own ring looks again after each piece.
    @inline(__always)
    func callIfShort() {
        if vacancies.load(ordering: .relaxed) > 0, searching.load(ordering: .relaxed) == 0 { callWorker() }
    }

    /// Calls a worker, if one may be called.
    @inline(never)
    func callWorker() {
        var called: PoolWorker?
        var isFirst = false
        roster.withLock { roster in
            guard roster.hasVacancy, let worker = roster.resting.popLast() ?? make() else { return }
            isFirst = roster.active == 0
            roster.begin(worker)
            publish(roster)
            // On its behalf, so that nobody else is called until it has looked. Relaxed: see `callIfShort`.
            searching.add(1, ordering: .relaxed)
            called = worker
        }
        called?.call()
        if isFirst { watch.begin(self) }
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

    /// Shows everybody how many may be called. The roster is locked.
    func publish(_ roster: borrowing PoolRoster) {
        // Relaxed: a hint. Who relies on it has passed a fence, or looks again under the lock.
        vacancies.store(roster.vacancies, ordering: .relaxed)
    }

    // MARK: - What waits

    /// Whether there is work that nobody has begun, as far as one can see from outside.
    ///
    /// A single piece before a worker that is getting on is that one's, and no work for another.
    func hasWork() -> Bool {
        if !urgent.isEmpty || !line.isEmpty || !spill.isEmpty || !patient.isEmpty { return true }
        for index in 0..<count where worker(index).ring.count > 0 {
            if worker(index).ring.count > 1 || isHeldUp(worker(index)) { return true }
        }
        // Once more: a ring may have laid down its work after the first look, and before its turn.
        return !spill.isEmpty
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
