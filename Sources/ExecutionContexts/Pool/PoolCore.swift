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
/// another one may run in its stead. Any worker steals from any other: no job is stuck behind a
/// long one.
@safe final class PoolCore: Limiter, @unchecked Sendable {
    // Unchecked: an element of `workers` is written before `made` covers it, and never after that.

    let name: String
    let qos: UInt32
    /// How many workers may run at a time, and how many there may be at all.
    let (width, limit): (Int, Int)

    private let urgent = Injector()
    private let injector = Injector()
    private let lowPriority = Injector()
    /// Jobs that the monitor has moved from behind long ones.
    let rescued = Injector()
    private let padding1 = CacheLinePadding()

    let overflow = PoolOverflow()
    private let padding2 = CacheLinePadding()

    /// How many workers search for jobs. One suffices: a searcher that finds a job starts the next.
    let searching = Atomic<Int>(0)
    // What follows rarely changes while all workers have jobs, and every worker reads it.
    private let padding3 = CacheLinePadding()

    /// How many more workers may start; negative where some are to leave.
    let vacancies: Atomic<Int>

    let accounting: Guarded<WorkerAccounting>
    private let workers: UnsafeMutablePointer<Unmanaged<PoolWorker>>
    private let made = Atomic<Int>(0)
    /// Whether the monitor moves jobs from a ring to `rescued`, so that they are in neither.
    let isMoving = Atomic<Bool>(false)
    /// Whether the monitor checks the pool.
    let isMonitored = Atomic<Bool>(false)
    /// Whether the monitor looks seldom, since nothing waits.
    let isPolledSlowly = Atomic<Bool>(false)

    /// The jobs that wait for another job of the pool.
    private let waitingJobs = Guarded(WaitingJobs())

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

    func worker(_ index: Int) -> PoolWorker {
        unsafe workers[index]._withUnsafeGuaranteedRef { $0 }
    }

    // MARK: - Submitting

    /// Submits a job; false, and drops it, if the pool has been shut down and had not accepted it.
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
    private func add(_ work: UnmanagedWork, to worker: PoolWorker) -> Bool {
        if !worker.ring.hasRoom {
            overflow.append(contentsOf: worker.ring, allBut: WorkRing.capacity / 2)
        }
        let waiting = worker.ring.append(work)
        // A worker runs the next link of a chain itself: another worker would come too late.
        if unsafe waiting > 1 || !worker.loneJobHint { startWorkerIfNeeded() }
        return true
    }

    @inline(never)
    private func inject(_ work: UnmanagedWork, _ priority: WorkPriority, isAccepted: Bool) -> Bool {
        let didAdd =
            switch priority {
            case .high, .highest: urgent.append(work, isAccepted: isAccepted)
            // A delayed job that is due does not wait behind a worker whose jobs submit more jobs.
            case .medium where isAccepted: urgent.append(work, isAccepted: true)
            case .medium: injector.append(work, isAccepted: false)
            case .low, .lowest: lowPriority.append(work, isAccepted: isAccepted)
            }
        guard didAdd else { return false }
        SimulationHooks.willSubmitOutside(to: name)
        // Store-load handshake: this thread sees that no worker searches, or a worker that has
        // stopped searching sees this job.
        atomicMemoryFence(ordering: .sequentiallyConsistent)
        startWorkerIfNeeded()
        wakeMonitorIfNeeded()
        return true
    }

    /// Brings the monitor's next look forward, since a job is queued or a worker waits.
    @inline(__always)
    private func wakeMonitorIfNeeded() {
        // Relaxed, here and below: a hint. The next look comes in any case.
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
            // For the worker, so that no other one starts before it has searched. Relaxed: see
            // `startWorkerIfNeeded`.
            searching.add(1, ordering: .relaxed)
            started = worker
        }
        guard let started else { return false }
        // A pool's first worker always gets a thread, so that no pool stops because of others.
        if started.start(isFirst: isFirst) {
            if isFirst { PoolMonitor.add(self) }
            return true
        }
        dismiss(started)
        return false
    }

    /// Returns a worker without a thread to the idle set. The monitor tries again.
    private func dismiss(_ worker: PoolWorker) {
        accounting.withLock { accounting in
            accounting.moveToIdleSet(worker)
            publish(&accounting)
        }
        // Sequentially consistent: in one order with a submitter's job and its read of `searching`.
        // The job of a submitter that started no worker because of this one is seen below.
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

    /// Gives free permits to the workers that wait for one, and publishes how many may start.
    func publish(_ accounting: inout WorkerAccounting) {
        accounting.admitReturning()
        // Relaxed: a reader that relies on it has passed a fence, or reads again under the lock.
        vacancies.store(accounting.vacancies, ordering: .relaxed)
    }

    // MARK: - Queued jobs

    /// How many jobs are queued. A job that moves during the call may be counted never or twice.
    var pendingCount: Int {
        (0..<count).reduce(
            urgent.count + injector.count + overflow.count + rescued.count + lowPriority.count
        ) {
            $0 + worker($1).ring.count
        }
    }

    /// Whether there is a job that no worker has begun, and that is not the only one in the ring of
    /// a worker that makes progress.
    func hasWork() -> Bool {
        if !urgent.isEmpty || !injector.isEmpty || !overflow.isEmpty || !rescued.isEmpty
            || !lowPriority.isEmpty
        {
            return true
        }
        for index in 0..<count where worker(index).ring.count > 0 {
            if worker(index).ring.count > 1 || makesNoProgress(worker(index)) { return true }
        }
        // Once more: a worker may have moved the jobs of its ring to the overflow between the look
        // there and the look at its ring. Acquiring: a thread that finds a ring empty because the
        // monitor has taken its jobs sees `isMoving`, or else the jobs.
        return !overflow.isEmpty || isMoving.load(ordering: .acquiring) || !rescued.isEmpty
    }

    /// Whether a worker has queued jobs and begins none, for longer than a short job takes.
    private func makesNoProgress(_ worker: PoolWorker) -> Bool {
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

    func close() {
        closed.store(true, ordering: .relaxed)
        urgent.close()
        injector.close()
        lowPriority.close()
    }

    // MARK: - What a worker does while it has a thread

    /// Runs jobs until there are none; the body of the worker's thread, once for each start.
    ///
    /// The thread that started the worker has counted it in `searching`.
    func work(_ worker: PoolWorker) {
        adoptThread(worker)
        worker.occupy {
            unsafe Frame.enterJobs(of: Frame.owner(self)) {
                while runFound(worker) {
                    guard runOwn(worker) else { return }
                    // Relaxed: see `startWorkerIfNeeded`.
                    searching.add(1, ordering: .relaxed)
                }
            }
        }
    }

    /// Records the calling thread as the worker's, for the monitor.
    private func adoptThread(_ worker: PoolWorker) {
        let thread = ec_thread_handle()
        accounting.withLock { _ in unsafe worker.record.thread = thread }
    }

    /// Runs jobs until the worker finds none (true), or gives its thread back (false).
    private func runOwn(_ worker: PoolWorker) -> Bool {
        while true {
            // Relaxed, both: read again under the lock of the accounting.
            if worker.isToReport.load(ordering: .relaxed) { report(worker) }
            if vacancies.load(ordering: .relaxed) < 0, giveThreadBack(worker) { return false }
            guard let work = next(worker) else { return true }
            run(consume work, worker)
        }
    }

    /// Runs a job, and frees it before the next step (law 10); false if the worker has gone idle.
    private func runFound(_ worker: PoolWorker) -> Bool {
        guard let work = search(worker) else { return false }
        run(consume work, worker)
        return true
    }

    /// Runs a job, and frees it before it ends: what its captures do is done by the job.
    @inline(__always)
    private func run(_ work: consuming @escaping Work, _ worker: PoolWorker) {
        worker.beginJob()
        runAndFree(consume work)
        Frame.endJob()
    }

    @inline(__always)
    private func runAndFree(_ work: consuming @escaping Work) { AutoreleasePool.run(work) }

    /// The worker's next job: its own, as long as no other queue has any.
    @inline(__always)
    private func next(_ worker: PoolWorker) -> Work? {
        if !urgent.isEmpty || !lowPriority.isEmpty { return nextByTime(worker) }
        let waiting = worker.ring.count
        if unsafe worker.injectedCount > 0 {
            // Of the injector, taken while the ring was empty: no later job precedes them.
            unsafe worker.injectedCount -= 1
        } else if !injector.isEmpty, waiting > 0 || !overflow.isEmpty || !rescued.isEmpty {
            return nextByTime(worker)
        }
        unsafe worker.loneJobHint = waiting == 1
        if waiting > 1 { startWorkerIfNeeded() }
        // Not by `??`, which is generic and wraps a closure in a reabstraction thunk.
        if let work = nextOwn(worker) { return work }
        return takeShare(worker)
    }

    /// The next job of the worker's ring or of the overflow; every second one is of `rescued`.
    @inline(__always)
    private func nextOwn(_ worker: PoolWorker) -> Work? {
        if !rescued.isEmpty, unsafe worker.jobCounter % 2 == 0 || worker.ring.count == 0 {
            unsafe worker.jobCounter &+= 1
            if let work = rescued.take(into: worker.ring, sharedBy: .max) { return work }
        }
        if let work = worker.ring.take() {
            unsafe worker.jobCounter &+= 1
            // Without this, the oldest jobs of the overflow would come last, or never.
            if unsafe worker.jobCounter % 128 == 0, !overflow.isEmpty { bringOldest(worker) }
            return work
        }
        return overflow.take(into: worker.ring)
    }

    @inline(never)
    private func bringOldest(_ worker: PoolWorker) {
        if let work = overflow.takeOldest(into: worker.ring) {
            _ = add(UnmanagedWork(work), to: worker)
        }
    }

    /// Takes a share of the injector's jobs, for a worker whose ring is empty.
    private func takeShare(_ worker: PoolWorker) -> Work? {
        guard let work = injector.take(into: worker.ring, sharedBy: width) else { return nil }
        unsafe worker.injectedCount = worker.ring.count
        return work
    }

    /// The next job while several queues have jobs: each queue has its share of the worker's time.
    @inline(never)
    private func nextByTime(_ worker: PoolWorker) -> Work? {
        unsafe worker.loneJobHint = false
        unsafe worker.injectedCount = 0
        // One more try for each queue that turns out to be empty.
        for _ in 0..<4 {
            let waiting = TimeShares.Waiting(
                own: worker.ring.count > 0 || !overflow.isEmpty || !rescued.isEmpty,
                outside: !injector.isEmpty, urgent: !urgent.isEmpty,
                lowPriority: !lowPriority.isEmpty)
            guard waiting.own || waiting.outside || waiting.urgent || waiting.lowPriority else {
                return nil
            }
            if worker.ring.count > 1 || waiting.outside { startWorkerIfNeeded() }
            let work =
                switch unsafe worker.shares.choose(
                    at: MonotonicClock.nanoseconds, begun: worker.begunCount, from: waiting)
                {
                case .own: nextOwn(worker)
                case .outside: injector.take(into: worker.ring, sharedBy: .max)
                case .urgent: urgent.take(into: worker.ring, sharedBy: .max)
                case .lowPriority: lowPriority.take(into: worker.ring, sharedBy: .max)
                }
            if let work { return work }
        }
        return nil
    }

    // MARK: - Searching

    /// Searches all queues until a job is found; nil if the worker has gone idle.
    ///
    /// It does not spin before it parks. A searcher that spins keeps its processor from the thread
    /// that it has just woken, and takes jobs from the injector one by one, not many at a time.
    private func search(_ worker: PoolWorker) -> Work? {
        unsafe worker.loneJobHint = false
        unsafe worker.injectedCount = 0
        repeat {
            // Relaxed: see `runOwn`.
            if worker.isToReport.load(ordering: .relaxed) { report(worker) }
            if !isSuperfluous, let work = find(worker) {
                found()
                return work
            }
        } while !goIdle(worker)
        return nil
    }

    /// Whether too many run for another job to begin: the workers in whose stead this one was
    /// started may have continued before its thread came.
    @inline(__always)
    private var isSuperfluous: Bool {
        // Relaxed: read again under the lock of the accounting.
        vacancies.load(ordering: .relaxed) < 0 && accounting.withLock { $0.vacancies < 0 }
    }

    private func find(_ worker: PoolWorker) -> Work? {
        if let work = worker.ring.take() { return work }
        if let work = urgent.take(into: worker.ring, sharedBy: .max) { return work }
        if let work = takeShare(worker) { return work }
        if let work = rescued.take(into: worker.ring, sharedBy: .max) { return work }
        if let work = overflow.take(into: worker.ring) { return work }
        let count = count
        unsafe worker.jobCounter &+= 1
        for step in 0..<count {
            let other = unsafe self.worker((Int(worker.jobCounter) + step) % count)
            let waiting = other === worker ? 0 : other.ring.count
            if waiting == 0 || waiting == 1 && !makesNoProgress(other) { continue }
            if let work = other.ring.steal(into: worker.ring, takesLast: waiting == 1) {
                return work
            }
        }
        return lowPriority.take(into: worker.ring, sharedBy: .max)
    }

    /// Ends a successful search. The last searcher starts the next one, if there are more jobs.
    private func found() {
        // Sequentially consistent: in one order with a submitter's job and its read of `searching`.
        let before = searching.subtract(1, ordering: .sequentiallyConsistent).oldValue
        if before == 1, vacancies.load(ordering: .relaxed) > 0, hasWork() { startWorker() }
    }

    // MARK: - Going idle

    /// Parks a searcher for a while; false if the worker was started again, or has a job after all.
    private func goIdle(_ worker: PoolWorker) -> Bool {
        worker.beginTimedPark()
        accounting.withLock { accounting in
            accounting.moveToIdleSet(worker)
            publish(&accounting)
        }
        searching.subtract(1, ordering: .relaxed)
        // Store-load handshake, with that of `inject`.
        atomicMemoryFence(ordering: .sequentiallyConsistent)
        if hasWork() {
            let hasResumed = accounting.withLock { accounting in
                guard accounting.takeBack(worker) else { return false }
                publish(&accounting)
                searching.add(1, ordering: .relaxed)
                return true
            }
            if hasResumed {
                worker.endTimedPark()
                adoptThread(worker)
                return false
            }
        }
        notifyIfDone()
        guard worker.isStartedWhileParked() else { return true }
        adoptThread(worker)
        return false
    }

    /// Gives the thread back (true) while the pool is above its width; the overflow gets its jobs.
    @inline(never)
    private func giveThreadBack(_ worker: PoolWorker) -> Bool {
        overflow.append(contentsOf: worker.ring)
        unsafe worker.injectedCount = 0
        let leaves = accounting.withLock { accounting in
            guard accounting.vacancies < 0 else { return false }
            accounting.moveToIdleSet(worker)
            publish(&accounting)
            return true
        }
        // Other workers may have looked before these jobs were in the overflow.
        atomicMemoryFence(ordering: .sequentiallyConsistent)
        if hasWork() { startWorkerIfNeeded() }
        guard leaves else { return false }
        notifyIfDone()
        return true
    }

    /// Calls `waiter` as soon as no job runs and none is queued.
    func whenDone(_ waiter: @escaping @Sendable () -> Void) {
        accounting.withLock { $0.waiters.append(waiter) }
        for waiter in takeWaitersIfDone() { waiter() }
    }

    /// Calls the waiters if no job is left, on another thread: the worker may be started again.
    func notifyIfDone() {
        let waiters = takeWaitersIfDone()
        if waiters.isEmpty { return }
        LibraryThreads.run(
            .init(name: name, isIndispensable: true) { for waiter in waiters { waiter() } })
    }

    private func takeWaitersIfDone() -> [@Sendable () -> Void] {
        if hasWork() { return [] }
        // Once more under the lock: while no worker is active, no job is between two queues.
        return accounting.withLock { $0.active == 0 && !hasWork() ? $0.takeWaiters() : [] }
    }

    // MARK: - Waits

    /// Gives up the permit of the calling thread's worker, which is about to block.
    func beginWait(_ worker: PoolWorker) {
        accounting.withLock { accounting in
            accounting.beginWait(worker)
            publish(&accounting)
        }
        // Store-load handshake: a submitter sees the free permit, or this thread sees its job. The
        // jobs in this worker's own ring must not wait until it resumes.
        atomicMemoryFence(ordering: .sequentiallyConsistent)
        if worker.ring.count > 0 || hasWork() { startWorkerIfNeeded() }
    }

    /// Takes a permit again after a wait; `whenThereIsRoom` blocks until one is free.
    ///
    /// That is at the latest when another worker ends its job or is found stalled, as one is that
    /// waits for a lock of this worker's.
    ///
    /// With `atOnce` the worker continues; without a free permit beyond the width, until a job
    /// ends.
    func endWait(_ worker: PoolWorker, _ resumption: BlockingScope.Resumption) {
        let mustWait = accounting.withLock { accounting in
            unsafe worker.record.waits -= 1
            guard unsafe worker.record.waits == 0 && worker.record.isActive else { return false }
            if resumption == .whenThereIsRoom && !accounting.hasFreePermit {
                accounting.appendReturning(worker)
                publish(&accounting)
                return true
            }
            accounting.markRunning(worker)
            publish(&accounting)
            return false
        }
        if mustWait {
            wakeMonitorIfNeeded()
            worker.permit.park()
        }
    }

    func foresee(_ forecast: inout WaitForecast) {
        if unsafe Frame.isCurrent(Frame.owner(self)) { forecast.limiters.append(self) }
    }

    // Each running job has a worker, and each worker has a thread.
    func jobWaits(for end: AwaitedEnd) -> Bool {
        let jobs = unsafe Frame.jobs(of: Frame.owner(self))
        return waitingJobs.withLock { $0.begin(jobs, for: end, reaching: limit) }
    }

    func jobResumes(after end: AwaitedEnd) { waitingJobs.withLock { $0.end(end) } }
}
