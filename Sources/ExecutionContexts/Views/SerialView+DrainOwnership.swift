// How threads that are not drains acquire drain ownership and pass it on.
extension SerialView {
    /// Waits until the caller has drain ownership and all jobs submitted before have run.
    func enter() {
        let isFree = mailbox.withLock { mailbox in
            guard !mailbox.isOwned, !mailbox.hasWaiters, isClear(mailbox) else { return false }
            mailbox.isOwned = true
            return true
        }
        if !isFree {
            unsafe NestedWait.during(for: .init(identity), named: .text(name)) {
                waitForOwnership()
            }
        }
    }

    /// Releases drain ownership, or passes it on to the first waiter.
    func releaseOwnership() {
        var waiter: DrainWaiter?
        let mustRequest = mailbox.withLock { mailbox in
            let isClear = isClear(mailbox)
            if mailbox.hasWaiters && (isClear || base.runsAnywhere) {
                // The waiter starts the jobs that are queued before it.
                waiter = waitQueue.first
                return false
            }
            mailbox.isOwned = false
            return !isClear && mailbox.mustRequestDrain()
        }
        waiter?.wake()
        if mustRequest { requestDrain(on: base) }
    }

    /// Releases drain ownership between two jobs, unless a thread waits for the remaining jobs.
    func pause() -> Pause {
        mailbox.withLock { mailbox in
            let isClear = isClear(mailbox)
            // A drain that continues passes ownership on to the first waiter as soon as it can. A
            // request to a pool whose threads all wait may never be served.
            if mailbox.hasWaiters && (isClear || base.runsAnywhere) { return .continues }
            mailbox.isOwned = false
            return .ends(mustRequest: !isClear && mailbox.mustRequestDrain())
        }
    }

    private func waitForOwnership() {
        let waiter = DrainWaiter()
        let mayHelp = base.runsAnywhere
        var needsBase = false
        var isOwner = mailbox.withLock { mailbox in
            let isFirst = !mailbox.hasWaiters
            // Another owner may be taking jobs from the batch. Its drain has a thread of the base.
            let isEmpty = mailbox.isOwned ? mailbox.queue.isEmpty : isClear(mailbox)
            needsBase = !mayHelp && (!isEmpty || waitQueue.hasWorkBehind)
            waitQueue.append(waiter)
            mailbox.hasWaiters = true
            // If jobs wait and only the base may run them, a drain has been requested and will
            // come.
            guard isFirst, !mailbox.isOwned, mayHelp || isClear(mailbox) else { return false }
            mailbox.isOwned = true
            return true
        }
        while true {
            guard isOwner || waiter.wait(for: base, named: name, needsBase: needsBase) else {
                trapDropped()
            }
            if dequeueIfClear(waiter) { return }
            // Jobs are queued before the caller, which has drain ownership. The caller does not run
            // them itself: inside them the caller's queue, actor, task and thread would count as
            // current (law 4). A thread that belongs to no pool runs them.
            let drain: Work = { self.drainBeforeWaiter() }
            if !SimulationHooks.runOnNewThread(drain) {
                LibraryThreads.run(.init(name: name, isIndispensable: true, body: drain))
            }
            isOwner = false
        }
    }

    /// Removes the first waiter from the wait queue if no job is queued before it; true if so.
    private func dequeueIfClear(_ waiter: DrainWaiter) -> Bool {
        mailbox.withLock { mailbox in
            guard isClear(mailbox) else { return false }
            waitQueue.removeFirst()
            mailbox.hasWaiters = waitQueue.first != nil
            swap(&mailbox.queue, &waiter.behind)
            return true
        }
    }

    /// Whether no job is queued before the first waiter.
    ///
    /// Requires the mailbox's lock, and that no other thread has drain ownership.
    private func isClear(_ mailbox: borrowing Mailbox) -> Bool {
        unsafe mailbox.queue.isEmpty && batch.pointee.isEmpty
    }

    /// Runs the jobs before the first waiter, and wakes it.
    private func drainBeforeWaiter() {
        unsafe Frame.enterJobs(of: identity) {
            while !runAsOwner(), requestContinuation(on: base) {}
        }
    }
}

/// What becomes of a drain that has spent its budget.
enum Pause {
    case continues
    case ends(mustRequest: Bool)
}
