/// One piece of work at a time, in order, over any base: a mailbox and at most one drain on the base.
@safe
final class SerialView<Base: ExecutionContext>: DrainedView, SerialContext, SynchronousContext,
    @unchecked Sendable  // See below.
{
    // Unchecked: the mailbox is guarded, and the batch belongs to one drain at a time, ordered by the mailbox
    // and the base.
    let base: Base
    /// Asked once; the base gets drains, and so could not bind anything to a piece itself (law 8).
    let binding: (@Sendable (_ work: @escaping Work) -> Work)?
    let name: String

    private let mailbox = Guarded(Mailbox())
    /// What the drain has taken out; it belongs to whoever drains, one after the other.
    private let batch: UnsafeMutablePointer<WorkQueue>

    init(base: Base, name: String) {
        self.base = base
        binding = base.binding
        self.name = name
        unsafe batch = .allocate(capacity: 1)
        unsafe batch.initialize(to: WorkQueue())
        super.init(over: Base.self)
    }

    deinit {
        // A drain holds the view, so there is none, and nothing waits.
        unsafe batch.deinitialize(count: 1)
        unsafe batch.deallocate()
    }

    func execute(_ work: @escaping Work) {
        if post(work) { requestDrain(on: base) }
    }

    func enqueue(_ work: @escaping Work) {
        if post(work) { requestDrainElsewhere(on: base) }
    }

    /// Yes inside this view's work, no elsewhere, except for law 4's one exception.
    var isCurrent: Bool? { unsafe Frame.isCurrent(identity) }

    var time: any TimeSource { base.time }

    /// Puts work in the mailbox; true if a drain must be asked for.
    private func post(_ work: @escaping Work) -> Bool {
        let work = bound(work)
        return mailbox.withLock { mailbox in
            mailbox.queue.append(work)
            let mustAsk = !mailbox.isDraining
            mailbox.isDraining = true
            return mustAsk
        }
    }

    override func drain() { takeTurns(on: base) { runBatches() } }

    /// Runs work until the mailbox is empty (true) or the budget is spent.
    private func runBatches() -> Bool {
        var budget = DrainBudget()
        while refill() {
            while let work = unsafe batch.pointee.popFirst() {
                work()
                if budget.spend() { return false }
            }
        }
        return true
    }

    private func refill() -> Bool {
        if unsafe !batch.pointee.isEmpty { return true }
        return mailbox.withLock { mailbox in
            unsafe mailbox.queue.reuse(&batch.pointee)
            guard !mailbox.queue.isEmpty else {
                mailbox.isDraining = false
                return false
            }
            unsafe batch.pointee = mailbox.queue.takeAll()
            return true
        }
    }

    override func drainWasLost() {
        // Nobody drains: the one who would have has just been lost.
        var lost = WorkQueue()
        unsafe swap(&lost, &batch.pointee)
        let waiting = mailbox.withLock { mailbox in
            mailbox.isDraining = false
            return mailbox.queue.takeAll()
        }
        // Outside the lock their captures are freed, and who waits for an answer gets it (laws 1, 9).
        _ = consume lost
        _ = consume waiting
    }
}

/// What has been submitted and not taken by the drain.
///
/// Not inside the generic view: a generic type's size is looked up at every access.
private struct Mailbox: ~Copyable {
    var queue = WorkQueue()
    /// Whether a drain has been asked for or is under way.
    var isDraining = false
}
