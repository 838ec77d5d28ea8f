internal import CPlatform
internal import Synchronization

// What a worker does while it has a thread.
extension PoolCore {
    /// Runs jobs until there are none; the body of the worker's thread, once for each start.
    ///
    /// A worker starts as a searcher: the thread that started it has counted it in `searching`.
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

    /// Runs jobs until the worker finds none (true), or gives its thread back since the pool is
    /// above its width (false).
    private func runOwn(_ worker: PoolWorker) -> Bool {
        while true {
            // Relaxed, both: read again under the lock of the accounting.
            if worker.isToReport.load(ordering: .relaxed) { report(worker) }
            if vacancies.load(ordering: .relaxed) < 0, giveThreadBack(worker) { return false }
            guard let work = next(worker) else { return true }
            run(work, worker)
        }
    }

    /// Searches for a job, runs it, and frees it before the next step (law 10); false if the worker
    /// has gone idle.
    private func runFound(_ worker: PoolWorker) -> Bool {
        guard let work = search(worker) else { return false }
        run(work, worker)
        return true
    }

    @inline(__always)
    private func run(_ work: Work, _ worker: PoolWorker) {
        worker.beginJob()
        AutoreleasePool.run(work)
        Frame.endJob()
    }

    /// The worker's next job: its own, as long as no other queue has any.
    @inline(__always)
    private func next(_ worker: PoolWorker) -> Work? {
        if !urgent.isEmpty || !lowPriority.isEmpty { return nextByTime(worker) }
        let waiting = worker.ring.count
        if unsafe worker.injectedCount > 0 {
            // Jobs that the worker took from the injector while its ring was empty: no later job
            // precedes them.
            unsafe worker.injectedCount -= 1
        } else if !injector.isEmpty, waiting > 0 || !overflow.isEmpty || !rescued.isEmpty {
            return nextByTime(worker)
        }
        unsafe worker.loneJobHint = waiting == 1
        if waiting > 1 { startWorkerIfNeeded() }
        // Not by `??`, which is generic: it wraps a closure that it returns in a reabstraction
        // thunk.
        if let work = nextOwn(worker) { return work }
        return takeShare(worker)
    }

    /// The next job of the worker's ring or of the overflow. Every second one is a job that the
    /// monitor has moved from behind a long one, if there is any.
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

    /// Adds some of the oldest jobs of the overflow to the worker's ring.
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
    /// The searcher looks once before it parks. A searcher that spins keeps its processor from the
    /// thread that it has just woken. The spinning searcher also takes jobs from the injector one
    /// by one, where a little later it would find many.
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

    /// Whether too many run for another job to begin. A thread may have come late: meanwhile the
    /// workers in whose stead it was started may have continued.
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
        // Sequentially consistent: in one order with a submitter's job and its read of `searching`,
        // so that one of the two threads sees the other.
        let before = searching.subtract(1, ordering: .sequentiallyConsistent).oldValue
        if before == 1, vacancies.load(ordering: .relaxed) > 0, hasWork() { startWorker() }
    }

    // MARK: - Going idle

    /// Parks a searcher for a while. Returns true if the thread is to be given back, false if the
    /// worker was started again or there is a job after all.
    private func goIdle(_ worker: PoolWorker) -> Bool {
        worker.beginTimedPark()
        accounting.withLock { accounting in
            accounting.moveToIdleSet(worker)
            publish(&accounting)
        }
        searching.subtract(1, ordering: .relaxed)
        // Store-load handshake: either the submitter sees that no worker searches, or this thread
        // sees the submitted job.
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

    /// Gives the thread back (true) while the pool is above its width; the jobs of the ring go to
    /// the overflow.
    @inline(never)
    private func giveThreadBack(_ worker: PoolWorker) -> Bool {
        overflow.append(contentsOf: worker.ring)
        let leaves = accounting.withLock { accounting in
            guard accounting.vacancies < 0 else { return false }
            accounting.moveToIdleSet(worker)
            publish(&accounting)
            return true
        }
        // Running workers, and those that have just gone idle, may have looked before these jobs
        // were in the overflow.
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

    /// Calls the waiters if no job runs and none is queued. They run on another thread, since this
    /// worker may be started again.
    func notifyIfDone() {
        let waiters = takeWaitersIfDone()
        if waiters.isEmpty { return }
        LibraryThreads.run(
            .init(name: name, isIndispensable: true) { for waiter in waiters { waiter() } })
    }

    private func takeWaitersIfDone() -> [@Sendable () -> Void] {
        if hasWork() { return [] }
        // Asked again under the lock: while no worker is active, no job is between two queues.
        return accounting.withLock { $0.active == 0 && !hasWork() ? $0.takeWaiters() : [] }
    }
}
