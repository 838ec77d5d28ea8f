internal import CPlatform
internal import Synchronization

/// The state of a pool: its queues, its workers, and their accounting.
///
/// A worker is not a thread. The life of a worker:
///
/// 1. `startWorker` takes it from the idle set, and it gets a thread: its parked one, or another.
/// 2. It searches, runs the jobs that it finds, and searches again.
/// 3. When it finds none, it joins the idle set and parks for a while.
/// 4. When no thread starts it meanwhile, it gives its thread back.
///
/// At most `width` workers are meant to run at a time. A worker that blocks does not count, and
/// another one may run in its stead. Every worker can steal from every other one, so no job is
/// stuck behind a long one.
@safe final class PoolCore: Limiter, @unchecked Sendable {
    // Unchecked because of the memory of `workers`: an element is written before `made` covers it,
    // and never after that.

    let name: String
    /// The quality of service of the pool's threads, as `LibraryThreads` takes it.
    let qos: UInt32
    /// How many workers may run at a time, and how many there may be at all.
    let (width, limit): (Int, Int)

    let urgent = Injector()
    let injector = Injector()
    let lowPriority = Injector()
    /// Jobs that the monitor has moved from behind long ones.
    let rescued = Injector()
    private let padding1 = CacheLinePadding()

    let overflow = PoolOverflow()
    private let padding2 = CacheLinePadding()

    /// How many workers search for jobs. One suffices: a searcher that finds a job starts the next
    /// one, if there are more.
    let searching = Atomic<Int>(0)
    // What follows rarely changes while all workers have jobs, and every worker reads it.
    private let padding3 = CacheLinePadding()

    /// How many more workers may start; negative where some are to leave.
    let vacancies: Atomic<Int>

    let accounting: Guarded<WorkerAccounting>
    private let workers: UnsafeMutablePointer<Unmanaged<PoolWorker>>
    private let made = Atomic<Int>(0)
    /// Whether the monitor is moving jobs from a ring to `rescued`, so that they are in neither.
    let isMoving = Atomic<Bool>(false)
    /// Whether the monitor checks the pool.
    let isMonitored = Atomic<Bool>(false)
    /// Whether the monitor checks at the longer interval, since nothing waits.
    let isPolledSlowly = Atomic<Bool>(false)

    /// The jobs that wait for another job of the pool.
    let waitingJobs = Guarded(WaitingJobs())

    init(name: String, width: Int, limit: Int, qos: UInt32) {
        (self.name, self.width, self.limit, self.qos) = (name, width, limit, qos)
        vacancies = Atomic(width)
        accounting = Guarded(WorkerAccounting(width: width))
        unsafe workers = .allocate(capacity: limit)
    }

    deinit {
        // A running worker retains the pool, so all workers are idle here, and no job is queued.
        for index in 0..<count { unsafe workers[index].release() }
        unsafe workers.deallocate()
    }

    /// How many workers there are. Acquiring: the elements that it covers can be read.
    var count: Int { made.load(ordering: .acquiring) }

    /// The worker at an index below `count`.
    func worker(_ index: Int) -> PoolWorker {
        unsafe workers[index]._withUnsafeGuaranteedRef { $0 }
    }

    // MARK: - Submitting

    /// Submits a job. Returns false, and drops the job, if the pool has been shut down and the job
    /// was not accepted before.
    @inline(__always)
    func submit(_ work: UnmanagedWork, _ priority: WorkPriority, isAccepted: Bool = false) -> Bool {
        if priority == .medium, isAccepted || !isClosed, let scope = unsafe ec_blocking_scope() {
            let didAdd = unsafe Unmanaged<BlockingScope>.fromOpaque(scope)._withUnsafeGuaranteedRef
            { scope in
                // The blocking scopes that a pool owns are its workers.
                unsafe scope.owner == UnsafeRawPointer(Unmanaged.passUnretained(self).toOpaque())
                    && add(work, to: unsafeDowncast(scope, to: PoolWorker.self))
            }
            if didAdd { return true }
        }
        return inject(work, priority, isAccepted: isAccepted)
    }

    /// Appends the job to the ring of the calling thread's worker.
    @inline(__always)
    func add(_ work: UnmanagedWork, to worker: PoolWorker) -> Bool {
        if !worker.ring.hasRoom {
            overflow.append(contentsOf: worker.ring, allBut: WorkRing.capacity / 2)
        }
        let waiting = worker.ring.append(work)
        // A worker runs the next link of a chain itself: another worker that is started for it
        // would each time come too late.
        if unsafe waiting > 1 || !worker.loneJobHint { startWorkerIfNeeded() }
        return true
    }

    @inline(never)
    private func inject(_ work: UnmanagedWork, _ priority: WorkPriority, isAccepted: Bool) -> Bool {
        let didAdd =
            switch priority {
            case .high, .highest: urgent.append(work, isAccepted: isAccepted)
            // A delayed job that is due is late already: it does not wait behind a worker whose
            // jobs submit more jobs.
            case .medium where isAccepted: urgent.append(work, isAccepted: true)
            case .medium: injector.append(work, isAccepted: false)
            case .low, .lowest: lowPriority.append(work, isAccepted: isAccepted)
            }
        guard didAdd else { return false }
        SimulationHooks.willSubmitOutside(to: name)
        // Store-load handshake: either this thread sees that no worker searches, or a worker that
        // has stopped searching sees this job.
        atomicMemoryFence(ordering: .sequentiallyConsistent)
        startWorkerIfNeeded()
        wakeMonitorIfNeeded()
        return true
    }

    /// Brings the monitor's next look forward, since a job is queued or a worker waits.
    @inline(__always)
    func wakeMonitorIfNeeded() {
        // Relaxed, here and below: a hint. Without it the next look comes all the same.
        if isPolledSlowly.load(ordering: .relaxed), vacancies.load(ordering: .relaxed) <= 0 {
            wakeMonitor()
        }
    }

    @inline(never)
    private func wakeMonitor() {
        if isPolledSlowly.exchange(false, ordering: .relaxed) { PoolMonitor.wake() }
    }

    // MARK: - Starting workers

    /// Starts a worker if one may start and none searches.
    ///
    /// Relaxed: a caller that must not miss anything has passed a fence. A caller with jobs in its
    /// own ring looks again after each job.
    @inline(__always)
    func startWorkerIfNeeded() {
        if vacancies.load(ordering: .relaxed) > 0, searching.load(ordering: .relaxed) == 0 {
            startWorker()
        }
    }

    /// Starts a worker, if one may start; true if it gets a thread.
    @inline(never)
    @discardableResult
    func startWorker() -> Bool {
        var started: PoolWorker?
        var isFirst = false
        accounting.withLock { accounting in
            guard accounting.hasVacancy, let worker = accounting.idle.popLast() ?? make() else {
                return
            }
            isFirst = accounting.active == 0
            accounting.begin(worker)
            publish(&accounting)
            // On the worker's behalf, so that no other one is started before it has searched.
            // Relaxed: see `startWorkerIfNeeded`.
            searching.add(1, ordering: .relaxed)
            started = worker
        }
        guard let started else { return false }
        // The first worker of a pool always gets a thread, so that no pool stops because of the
        // threads of others.
        if started.start(isFirst: isFirst) {
            if isFirst { PoolMonitor.add(self) }
            return true
        }
        dismiss(started)
        return false
    }

    /// Returns a worker to the idle set for which there is no thread. The monitor tries again.
    private func dismiss(_ worker: PoolWorker) {
        accounting.withLock { accounting in
            accounting.moveToIdleSet(worker)
            publish(&accounting)
        }
        // Sequentially consistent: in one order with a submitter's job and its read of `searching`.
        // A submitter that started no worker because of this one has its job seen below.
        searching.subtract(1, ordering: .sequentiallyConsistent)
        if !isAwake {
            if hasWork() { startWorker() } else { notifyIfDone() }
        }
    }

    /// Makes a worker, if there may be more. The caller holds the lock of the accounting.
    private func make() -> PoolWorker? {
        let index = count
        guard index < limit else { return nil }
        let worker = PoolWorker(of: self, number: index + 1)
        unsafe (workers + index).initialize(to: .passRetained(worker))
        // Releasing: a thread that sees the new count sees the worker. An exchange, so that its
        // reference has been counted by then.
        _ = made.exchange(index + 1, ordering: .releasing)
        return worker
    }

    /// Gives free permits to the workers that wait for one, and publishes how many may start. The
    /// caller holds the lock of the accounting.
    func publish(_ accounting: inout WorkerAccounting) {
        accounting.admitReturning()
        // Relaxed: a hint. A reader that relies on it has passed a fence, or reads again under the
        // lock.
        vacancies.store(accounting.vacancies, ordering: .relaxed)
    }

    // MARK: - Queued jobs

    /// How many jobs are queued. Each queue's count is right at some moment of the call; a job that
    /// moves meanwhile may be in none of them, or in two.
    var pendingCount: Int {
        (0..<count).reduce(
            urgent.count + injector.count + overflow.count + rescued.count + lowPriority.count
        ) {
            $0 + worker($1).ring.count
        }
    }

    /// Whether there is a job that no worker has begun, as far as one can see from outside.
    ///
    /// A single job in the ring of a worker that makes progress is left to that worker.
    func hasWork() -> Bool {
        if !urgent.isEmpty || !injector.isEmpty || !overflow.isEmpty || !rescued.isEmpty
            || !lowPriority.isEmpty
        {
            return true
        }
        for index in 0..<count where worker(index).ring.count > 0 {
            if worker(index).ring.count > 1 || makesNoProgress(worker(index)) { return true }
        }
        // Once more: a worker may have moved the jobs of its ring to the overflow after the first
        // look, and before its ring was looked at. Acquiring: a thread that finds a ring empty
        // because the monitor has taken its jobs sees `isMoving`, or else the jobs.
        return !overflow.isEmpty || isMoving.load(ordering: .acquiring) || !rescued.isEmpty
    }

    /// Whether a worker has queued jobs and begins none, for longer than a short job takes.
    func makesNoProgress(_ worker: PoolWorker) -> Bool {
        let begunCount = worker.begunCount
        for _ in 0..<8 {
            ec_relax()
            if worker.begunCount != begunCount { return false }
        }
        return worker.ring.count > 0
    }

    // MARK: - Shutdown

    // Relaxed: a hint; each injector reads its own flag under its lock.
    var isClosed: Bool { closed.load(ordering: .relaxed) }
    private let closed = Atomic<Bool>(false)

    /// Refuses new jobs from now on; accepted ones still run.
    func close() {
        closed.store(true, ordering: .relaxed)
        urgent.close()
        injector.close()
        lowPriority.close()
    }
}
