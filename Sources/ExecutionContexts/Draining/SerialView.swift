/// One piece of work at a time, in order, over any base: a mailbox and at most one who has the role.
///
/// The role is the right to run the view's work or to hold the view. A drain on the base takes it when it comes,
/// unless somebody has it; a thread that waits for its turn may get it before the drain comes, so a pool
/// without a free thread holds nobody up. A request that comes late finds the role taken, or nothing to do.
@safe
final class SerialView<Base: ExecutionContext>: DrainedView, ActorBackingContext, SynchronousBarrierContext,
    ForeseeingContext, @unchecked Sendable  // See below.
{
    // Unchecked: the mailbox is guarded, the batch belongs to whoever has the role and the line to whoever has the
    // mailbox's lock. The role changes hands under that lock or through a waiter's semaphore.
    let base: Base
    /// Asked once; the base gets drains, and so could not bind anything to a piece itself (law 8).
    let binding: (@Sendable (_ work: @escaping Work) -> Work)?
    let name: String

    let mailbox = Guarded(Mailbox())
    /// What has been taken out of the mailbox; it belongs to who has the role.
    let batch: UnsafeMutablePointer<WorkQueue>
    /// Who waits for the role; it belongs to who has the mailbox's lock.
    var line = RoleLine()
    let holding = Holding()

    init(base: Base, name: String) {
        self.base = base
        binding = base.binding
        self.name = name
        unsafe batch = .allocate(capacity: 1)
        unsafe batch.initialize(to: WorkQueue())
        super.init(over: Base.self)
    }

    deinit {
        // Whoever has the role or waits for it holds the view, so there is nobody, and nothing waits.
        unsafe batch.deinitialize(count: 1)
        unsafe batch.deallocate()
    }

    func execute(_ work: consuming @escaping Work) {
        if post(consume work) { requestDrain(on: base) }
    }

    func enqueue(_ work: consuming @escaping Work) {
        if post(consume work) { requestDrainElsewhere(on: base) }
    }

    /// Yes inside this view's work and for who holds it, no elsewhere, except for law 4's one exception.
    var isCurrent: Bool? { unsafe Frame.isCurrent(identity) || holding.isMine }

    var time: any TimeSource { base.time }

    func foresee(_ outlook: inout Outlook) {
        isCurrent == true ? outlook.obstacle = name : outlook.followUnlessHelped(base)
    }

    /// Puts work in the mailbox; true if a drain must be asked for.
    func post(_ work: consuming @escaping Work) -> Bool {
        // Taken apart, so that nothing is counted under the lock.
        let work = LooseWork(bound(work))
        let mustAsk: Bool? = mailbox.withLock { mailbox in
            guard !mailbox.hasWaiters else { return nil }
            mailbox.queue.append(work.assembled())
            return mailbox.asks()
        }
        return mustAsk ?? postBehind(work)
    }

    // Apart, so that what is done for every piece stays small enough to be inlined.
    @inline(never)
    private func postBehind(_ work: LooseWork) -> Bool {
        mailbox.withLock { mailbox in
            let work = work.assembled()
            if let last = line.last { last.behind.append(work) } else { mailbox.queue.append(work) }
            return mailbox.asks()
        }
    }

    override func drain() { takeTurns(on: base) { comes() ? runTaken() : true } }

    /// A drain that was asked for is here; true if it takes the role, with something to run.
    private func comes() -> Bool {
        var waiter: RoleWaiter?
        let hasWork = mailbox.withLock { mailbox in
            mailbox.isAsked = false
            guard !mailbox.isTaken else { return false }
            mailbox.isTaken = true
            return unsafe !batch.pointee.isEmpty || refill(&mailbox, orWake: &waiter)
        }
        waiter?.wake()
        return hasWork
    }

    /// Runs work until nothing is left or the role has been passed on (true), or until the budget is spent and
    /// another turn is to be asked for. Only for who has the role.
    func runTaken() -> Bool {
        var budget = DrainBudget()
        repeat {
            while runNext() {
                guard budget.spend() else { continue }
                switch pause() {
                case .goesOn: budget = DrainBudget()
                case .ends(let mustAsk): return !mustAsk
                }
            }
        } while refill()
        return true
    }

    /// Runs a job and frees it, before drain ownership can be laid down (law 10); false if there is
    /// none.
    @inline(__always)
    private func runNext() -> Bool {
        guard let work = unsafe batch.pointee.popFirst() else { return false }
        work()
        Frame.endJob()
        return true
    }

    private func refill() -> Bool {
        var waiter: RoleWaiter?
        let hasWork = mailbox.withLock { refill(&$0, orWake: &waiter) }
        waiter?.wake()
        return hasWork
    }

    /// Takes the next batch (true), or passes the role on to who waits for it, or lays it down.
    @inline(__always)
    private func refill(_ mailbox: inout Mailbox, orWake waiter: inout RoleWaiter?) -> Bool {
        unsafe mailbox.queue.reuse(&batch.pointee)
        guard mailbox.queue.isEmpty else {
            unsafe batch.pointee = mailbox.queue.takeAll()
            return true
        }
        if mailbox.hasWaiters {
            waiter = line.first
        } else {
            mailbox.isTaken = false
        }
        return false
    }

    override func drainWasLost() {
        var lost = WorkQueue()
        var queue = WorkQueue()
        var line = RoleLine()
        let isMine = mailbox.withLock { mailbox in
            mailbox.isAsked = false
            // Whoever has the role looks after the rest.
            guard !mailbox.isTaken else { return false }
            mailbox.isTaken = true
            mailbox.hasWaiters = false
            queue = mailbox.queue.takeAll()
            unsafe swap(&lost, &batch.pointee)
            line = self.line.takeAll()
            return true
        }
        guard isMine else { return }
        // Outside the lock their captures are freed, beside no job, and those who wait for an
        // answer get it (laws 1, 9, 10).
        unsafe Frame.enterJobs(of: identity) {
            _ = lost.takeAll()
            _ = queue.takeAll()
            line.takeAll().lose()
        }
        leave()
    }
}

/// What has been submitted and not taken by who has the role.
///
/// Not inside the generic view: a generic type's size is looked up at every access.
struct Mailbox: ~Copyable {
    var queue = WorkQueue()
    /// Whether the base has been asked for a drain that has not come yet.
    var isAsked = false
    /// Whether somebody has the role.
    var isTaken = false
    /// Whether threads wait for the role; then new work is submitted behind the last of them.
    var hasWaiters = false

    /// Whether somebody must ask the base for a drain, and then the caller does.
    @inline(__always)
    mutating func asks() -> Bool {
        guard !isAsked && !isTaken else { return false }
        isAsked = true
        return true
    }
}
