// How the role is taken and passed on by those who are not drains.
extension SerialView {
    /// Waits until the caller has the role and everything submitted before has run.
    func enter() {
        let isFree = mailbox.withLock { mailbox in
            guard !mailbox.isTaken, !mailbox.hasWaiters, isClear(mailbox) else { return false }
            mailbox.isTaken = true
            return true
        }
        if !isFree { waitInLine() }
    }

    /// Lays the role down or passes it on.
    func leave() {
        var waiter: RoleWaiter?
        let mustAsk = mailbox.withLock { mailbox in
            let isClear = isClear(mailbox)
            if mailbox.hasWaiters && (isClear || base.runsAnywhere) {
                // It will see to what must be run before it.
                waiter = line.first
                return false
            }
            mailbox.isTaken = false
            return !isClear && mailbox.asks()
        }
        waiter?.wake()
        if mustAsk { requestDrain(on: base) }
    }

    /// Lays the role down in the middle of the work, unless somebody waits for what is to be run.
    func pause() -> Pause {
        mailbox.withLock { mailbox in
            let isClear = isClear(mailbox)
            // Who waits gets the role at once where it can; and it may be in vain to ask a pool whose threads all wait.
            if mailbox.hasWaiters && (isClear || base.runsAnywhere) { return .goesOn }
            mailbox.isTaken = false
            return .ends(mustAsk: !isClear && mailbox.asks())
        }
    }

    private func waitInLine() {
        let waiter = RoleWaiter()
        let mayHelp = base.runsAnywhere
        var needsBase = false
        var hasRole = mailbox.withLock { mailbox in
            let isFirst = !mailbox.hasWaiters
            // Of a batch that another thread runs nothing may be read; its drain has a thread of the base.
            let isEmpty = unsafe mailbox.isTaken ? mailbox.queue.isEmpty : isClear(mailbox)
            needsBase = !mayHelp && (!isEmpty || line.hasWorkBehind)
            line.append(waiter)
            mailbox.hasWaiters = true
            // Where work waits and only the base may run it, the base has been asked and will come.
            guard isFirst, !mailbox.isTaken, mayHelp || isClear(mailbox) else { return false }
            mailbox.isTaken = true
            return true
        }
        while true {
            guard hasRole || waiter.wait(for: base, named: name, needsBase: needsBase) else { stopLoss() }
            if isMyTurn(waiter) { return }
            // Work waits before the caller, who has the role. It is not run here: to that work the
            // caller's queue, actor, task and thread would be its own (law 4). It runs on a thread
            // that belongs to no pool.
            let drain: Work = { self.drainTaken() }
            if !Seam.lend(drain) {
                OwnThreads.run(.init(name: name, isIndispensable: true, body: drain))
            }
            hasRole = false
        }
    }

    /// Whether nothing must be run before the first in line, who then stands in line no more.
    private func isMyTurn(_ waiter: RoleWaiter) -> Bool {
        mailbox.withLock { mailbox in
            guard isClear(mailbox) else { return false }
            line.removeFirst()
            mailbox.hasWaiters = line.first != nil
            swap(&mailbox.queue, &waiter.behind)
            return true
        }
    }

    /// Whether nothing waits before the first in line. Under the mailbox's lock, by who has or could have the role.
    private func isClear(_ mailbox: borrowing Mailbox) -> Bool {
        unsafe mailbox.queue.isEmpty && batch.pointee.isEmpty
    }

    /// Runs what waits before the first in line, and wakes it.
    private func drainTaken() {
        unsafe Frame.enterJobs(of: identity) {
            while !runTaken(), requestTurn(on: base) {}
        }
    }
}

/// What becomes of a drain that has used up its turn.
enum Pause {
    case goesOn
    case ends(mustAsk: Bool)
}
