internal import Synchronization

// Workers that block.
extension PoolCore {
    /// Gives up the permit of the calling thread's worker, which is about to block: another worker
    /// may run.
    func beginWait(_ worker: PoolWorker) {
        accounting.withLock { accounting in
            accounting.beginWait(worker)
            publish(&accounting)
        }
        // Store-load handshake: either a submitter sees the free permit, or this thread sees the
        // submitter's job. The jobs in this worker's own ring must not wait until it resumes.
        atomicMemoryFence(ordering: .sequentiallyConsistent)
        if worker.ring.count > 0 || hasWork() { startWorkerIfNeeded() }
    }

    /// Takes a permit again after a wait; `whenThereIsRoom` blocks until one is free.
    ///
    /// A permit becomes free at the latest when another worker ends its job or is found stalled. A
    /// worker that waits for a lock of this worker's is found stalled, too.
    ///
    /// With `atOnce` the worker continues at once. If no permit is free it runs beyond the width,
    /// until some worker has ended a job.
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
            worker.waitForPermit()
        }
    }
}

// The forecast of waits of one job for another.
extension PoolCore {
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
