/// A bounded view that drops its oldest waiting job to make room for a newer one.
///
/// The view keeps the jobs, and requests one drain from its base for each. Every drain runs the
/// oldest job. A new job inherits the drain of the job that it replaces, so dropped jobs leave
/// nothing on the base. That is why a barrier context has no such view: a drain requested before a
/// barrier would carry a newer job past it.
final class DroppingView<Base: ExecutionContext>: Drainer, ContextDecorator, RefusingContext,
    @unchecked Sendable  // See below.
{
    // Unchecked only because the superclass is: each property here is a Sendable constant.
    let base: Base
    private let capacity: Int
    private let notify: @Sendable (Refusal) -> Void
    private let queue = Guarded(DroppingQueue())

    init(base: Base, capacity: Int, notify: @escaping @Sendable (Refusal) -> Void) {
        self.base = base
        self.capacity = capacity
        self.notify = notify
        super.init(over: base)
    }

    func execute(_ work: consuming @escaping Work) {
        admit(DroppableJob(work: bound(consume work)))
    }

    func execute(
        _ work: consuming @escaping Work, refused: consuming @escaping @Sendable (Refusal) -> Void
    ) {
        admit(DroppableJob(work: bound(consume work), refused: consume refused))
    }

    /// Never throws: the newest job always has room. If it is dropped later, `notify` reports it.
    func tryExecute(_ work: consuming @escaping Work) throws(Refusal) { execute(consume work) }

    /// Enters above the capacity and is never dropped: the job was accepted before.
    ///
    /// It is a delayed job, accepted when it was scheduled, or the drain of a view, which stands
    /// for jobs that the view has accepted.
    func enqueue(_ work: consuming @escaping Work) {
        let work = UnmanagedWork(bound(consume work))
        queue.withLock { $0.accept(work.assembled()) }
        requestDrainLater(on: base)
    }

    private func admit(_ job: consuming DroppableJob) {
        // Moved, so that the thread that runs the job frees it, and not this one (law 10).
        var job: DroppableJob? = consume job
        let dropped = queue.withLock { queue in
            let dropped = queue.droppable < capacity ? nil : queue.dropFirst()
            if let job = job.take() { queue.append(job) }
            return dropped
        }
        guard let dropped else { return requestDrain(on: base) }
        (dropped.refused ?? notify)(Refusal(.droppedForNewer, by: name))
    }

    var facts: ContextFacts { .boundedView(of: base) }

    override var drainedName: String { name }

    /// Runs the oldest job, for one of the requested drains.
    override func drain() { queue.withLock { $0.popFirst() }?.work() }

    override func drainWasDropped() {
        queue.withLock { $0.popFirst() }?.refused?(Refusal(.abandoned, by: name))
    }
}

extension DroppingView: BarrierContext where Base: SerialContext {
    func executeBarrier(_ work: consuming @escaping Work) { execute(consume work) }
}

extension DroppingView: SerialContext where Base: SerialContext {}

/// The waiting jobs, in order. Jobs accepted before are not counted, and not dropped.
private struct DroppingQueue: ~Copyable {
    private var jobs = FIFO<Numbered>()
    private var accepted = FIFO<Numbered>()
    private var last = 0

    private struct Numbered {
        let number: Int
        let job: DroppableJob
    }

    /// How many jobs may be dropped.
    var droppable: Int { jobs.count }

    mutating func append(_ job: DroppableJob) {
        last += 1
        jobs.append(Numbered(number: last, job: job))
    }

    mutating func accept(_ work: @escaping Work) {
        last += 1
        accepted.append(Numbered(number: last, job: DroppableJob(work: work)))
    }

    mutating func dropFirst() -> DroppableJob? { jobs.popFirst()?.job }

    mutating func popFirst() -> DroppableJob? {
        let isAcceptedFirst = (accepted.first?.number ?? .max) < (jobs.first?.number ?? .max)
        return isAcceptedFirst ? accepted.popFirst()?.job : jobs.popFirst()?.job
    }
}

/// A waiting job.
private struct DroppableJob: Sendable {
    let work: Work
    /// Called if the job will not run; nil for plain submissions.
    var refused: (@Sendable (Refusal) -> Void)?
}
