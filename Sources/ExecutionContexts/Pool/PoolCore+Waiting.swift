internal import Synchronization

// What becomes of a worker that waits.
extension PoolCore {
    /// The calling thread, which is this worker, is about to wait: another one may take its place.
    func beginWait(_ worker: PoolWorker) {
        roster.withLock { roster in
            unsafe worker.place.waits += 1
            roster.discount(worker)
            publish(&roster)
        }
        // Either a submitter sees the place that is free now, or this thread sees its job. What this
        // worker has added and not begun must not wait for it either.
        atomicMemoryFence(ordering: .sequentiallyConsistent)
        if worker.ring.count > 0 || hasWork() { callIfShort() }
    }

    /// It has been woken, and goes on as soon as there is a place: at the latest when another
    /// worker ends its job, or is found stalled, as one is that waits for a lock that this one
    /// holds.
    ///
    /// One that must go on at once does so beyond the width, until some worker has ended a job.
    func endWait(_ worker: PoolWorker, _ return: LentThread.Return) {
        let mustWait = roster.withLock { roster in
            unsafe worker.place.waits -= 1
            guard unsafe worker.place.waits == 0 && worker.place.isActive else { return false }
            if `return` == .whenThereIsRoom && !roster.hasPlace {
                roster.appendReturning(worker)
                publish(&roster)
                return true
            }
            roster.resume(worker)
            publish(&roster)
            return false
        }
        if mustWait {
            hurryMonitor()
            worker.waitForPlace()
        }
    }
}

// Whether the jobs that wait for one another can go on.
extension PoolCore {
    func foresee(_ outlook: inout Outlook) {
        if unsafe Frame.isCurrent(Frame.owner(self)) { outlook.limiters.append(self) }
    }

    // Each job under way has a worker, and each worker a thread.
    func jobWaits(for end: AwaitedEnd) -> Bool {
        let jobs = unsafe Frame.jobs(of: Frame.owner(self))
        return waitingJobs.withLock { $0.begin(jobs, for: end, reaching: limit) }
    }

    func jobGoesOn(after end: AwaitedEnd) { waitingJobs.withLock { $0.end(end) } }
}
