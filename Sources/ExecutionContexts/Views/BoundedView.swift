extension ExecutionContext {
    /// Returns a view of this context with at most `capacity` waiting jobs; `overflow` decides
    /// beyond.
    ///
    /// A job waits from its submission until it starts. Two kinds of job enter above the capacity,
    /// because they were accepted before:
    /// - a delayed job that is due, accepted when it was scheduled;
    /// - a drain of a view over this one, which stands for jobs that the other view has accepted.
    ///
    /// A capacity below 1 traps with a message. So does a policy that would break the order of a
    /// context that turns out, at run time, to be serial or to keep barriers (law 8).
    @_disfavoredOverload
    public func bounded(to capacity: Int, overflow: Overflow) -> BoundedView {
        overflow.checkOrder(of: self)
        overflow.checkCapacity(capacity, of: self)
        if case .dropOldest(let notify) = overflow.kind {
            return BoundedView(DroppingView(base: self, capacity: capacity, notify: notify))
        }
        return BoundedView(CountedView(base: self, capacity: capacity, overflow: overflow))
    }
}

extension BarrierContext {
    /// Returns a view of this context with at most `capacity` waiting jobs; `overflow` decides
    /// beyond.
    ///
    /// Barriers count as well, and keep their position in the order of submission.
    public func bounded(to capacity: Int, overflow: BarrierOverflow) -> BoundedBarrierView {
        overflow.policy.checkCapacity(capacity, of: self)
        return BoundedBarrierView(
            ordered: CountedView(base: self, capacity: capacity, overflow: overflow.policy))
    }

    /// Warns about a policy that this context cannot keep; making the view traps with a message.
    @available(
        *, deprecated,
        message:
            "callerRuns, or dropOldest if the context is not serial, breaks order (law 8) and traps"
    )
    @_disfavoredOverload
    public func bounded(to capacity: Int, overflow: Overflow) -> BoundedView {
        let context: some ExecutionContext = self
        return context.bounded(to: capacity, overflow: overflow)
    }
}

extension SerialContext {
    /// Returns a view of this context with at most `capacity` waiting jobs; `overflow` decides
    /// beyond.
    ///
    /// Accepted jobs run one at a time and in order, as on this context.
    public func bounded(to capacity: Int, overflow: SerialOverflow) -> BoundedSerialView {
        bounded(to: capacity, overflow: overflow, as: BoundedSerialView.self)
    }

    fileprivate func bounded<View: BoundedSerialView>(
        to capacity: Int, overflow: SerialOverflow, as: View.Type
    ) -> View {
        overflow.policy.checkCapacity(capacity, of: self)
        if case .dropOldest(let notify) = overflow.policy.kind {
            return View(ordered: DroppingView(base: self, capacity: capacity, notify: notify))
        }
        return View(
            ordered: CountedView(base: self, capacity: capacity, overflow: overflow.policy))
    }
}

extension MainActorContext {
    /// Returns a view of this context with at most `capacity` waiting jobs; `overflow` decides
    /// beyond.
    ///
    /// Accepted jobs run one at a time and in order, as on this context.
    public func bounded(to capacity: Int, overflow: SerialOverflow) -> BoundedMainActorView {
        bounded(to: capacity, overflow: overflow, as: BoundedMainActorView.self)
    }
}

/// A view with at most so many waiting jobs: what `bounded(to:overflow:)` returns.
///
/// Its subclasses are the views of contexts that keep barriers, of serial ones, and of those of the
/// main actor.
public class BoundedView: RefusingContext, @unchecked Sendable {
    // Unchecked only because it can be inherited from: it has a Sendable constant.
    private let view: any RefusingContext

    init(_ view: some RefusingContext) { self.view = view }

    @_disfavoredOverload
    public final func execute(_ work: consuming @escaping Work) { view.execute(consume work) }

    public final func execute(
        _ work: consuming @escaping Work, refused: consuming @escaping @Sendable (Refusal) -> Void
    ) {
        view.execute(consume work, refused: consume refused)
    }

    public final func enqueue(_ work: consuming @escaping Work) { view.enqueue(consume work) }

    public final func tryExecute(_ work: consuming @escaping Work) throws(Refusal) {
        try view.tryExecute(consume work)
    }

    public final var isCurrent: Bool? { view.isCurrent }

    public final func checkIsCurrent() -> Bool { view.checkIsCurrent() }

    public final var submissionTransform: (@Sendable (_ work: @escaping Work) -> Work)? {
        view.submissionTransform
    }

    public final var time: any TimeSource { view.time }

    public final var name: String { view.name }

    public final var facts: ContextFacts { view.facts }
}

/// A bounded view of a context that keeps barriers.
public class BoundedBarrierView: BoundedView, BarrierContext, @unchecked Sendable {
    // Unchecked only because it can be inherited from: each property is a Sendable constant.
    private let barriers: any BarrierContext

    required init(ordered view: some BarrierContext & RefusingContext) {
        barriers = view
        super.init(view)
    }

    public final func executeBarrier(_ work: consuming @escaping Work) {
        barriers.executeBarrier(consume work)
    }
}

/// A bounded view of a serial context.
public class BoundedSerialView: BoundedBarrierView, SerialContext, @unchecked Sendable {
    // Unchecked because its superclass is; it adds nothing.
}

/// A bounded view of a context of the main actor.
public final class BoundedMainActorView: BoundedSerialView, MainActorContext, @unchecked Sendable {
    // Unchecked because its superclass is; it adds nothing.
}

extension Overflow {
    fileprivate func checkCapacity(_ capacity: Int, of base: some ExecutionContext) {
        require(
            capacity >= 1,
            "A view of '\(base.name)' with a capacity of \(capacity) would refuse every job (law 1). "
                + "The capacity must be 1 or more.")
    }

    /// Traps if the policy would break the order of a context that turns out to keep one.
    fileprivate func checkOrder(of base: some ExecutionContext) {
        switch kind {
        case .callerRuns where base is any BarrierContext:
            stopMisuse(
                "Over '\(base.name)', which keeps an order, the overflow policy callerRuns would run a job beside the "
                    + "running job (laws 2, 3, 8). Choose refuse or wait.")
        case .dropOldest where base is any BarrierContext && !(base is any SerialContext):
            stopMisuse(
                "Over '\(base.name)', which keeps barriers, the overflow policy dropOldest would carry a job past a "
                    + "barrier (laws 3, 8). Choose refuse or wait.")
        default: break
        }
    }
}

/// A bounded view that drops its oldest waiting job to make room for a newer one.
///
/// The view keeps the jobs, and requests one drain from its base for each. Every drain runs the
/// oldest job. A new job inherits the drain of the job that it replaces, so dropped jobs leave
/// nothing on the base. That is why a barrier context has no such view: a drain requested before a
/// barrier would carry a newer job past it.
private final class DroppingView<Base: ExecutionContext>: Drainer, ContextDecorator,
    RefusingContext,
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

/// What a bounded view does with a job for which it has no room.
///
/// `tryExecute` throws; `run` and `submit` resolve with a refusal. Plain `execute` cannot refuse,
/// so each policy states what it does then (law 1).
public struct Overflow: Sendable {
    enum Kind: Sendable {
        case refuse, callerRuns, wait
        case dropOldest(notify: @Sendable (Refusal) -> Void)
    }

    let kind: Kind

    /// Refuses the job. Plain `execute` traps with a message: use `tryExecute`, `run` or `submit`.
    public static let refuse = Overflow(kind: .refuse)

    /// Runs the job on its submitter, which slows the submitter down.
    ///
    /// Not for contexts that keep an order (law 8).
    public static let callerRuns = Overflow(kind: .callerRuns)

    /// Drops the job that has waited longest and accepts the new one.
    ///
    /// A delayed job that is due, and a drain of a view over this one, were accepted before: they
    /// are not dropped. A dropped `run` or `submit` resolves with the refusal. For any other
    /// dropped job the submitter of the newer one calls `notify`: no job is dropped in silence
    /// (law 1).
    public static func dropOldest(notify: @escaping @Sendable (Refusal) -> Void) -> Overflow {
        Overflow(kind: .dropOldest(notify: notify))
    }

    /// Lets an awaited `run` wait for room, without a thread.
    ///
    /// `tryExecute` throws; plain `execute` traps with a message. Waiting jobs enter in the order
    /// of submission, after delayed jobs that are due.
    public static let wait = Overflow(kind: .wait)
}

/// What a bounded view of a serial context does with a job for which it has no room.
///
/// Every policy of `Overflow` except `callerRuns`: a job that runs on its submitter would run
/// beside the running job of the context (laws 2, 8).
public struct SerialOverflow: Sendable {
    @usableFromInline
    let policy: Overflow

    /// Refuses the job. Plain `execute` traps with a message: use `tryExecute`, `run` or `submit`.
    public static let refuse = SerialOverflow(policy: .refuse)

    /// Drops the job that has waited longest and accepts the new one; see `Overflow`.
    public static func dropOldest(notify: @escaping @Sendable (Refusal) -> Void) -> SerialOverflow {
        SerialOverflow(policy: .dropOldest(notify: notify))
    }

    /// Lets an awaited `run` wait for room, without a thread; see `Overflow`.
    public static let wait = SerialOverflow(policy: .wait)
}

/// What a bounded view of a context with barriers does with a job for which it has no room.
///
/// Neither `callerRuns` nor `dropOldest`: both could carry a job past a barrier (laws 3, 8).
public struct BarrierOverflow: Sendable {
    @usableFromInline
    let policy: Overflow

    /// Refuses the job. Plain `execute` traps with a message: use `tryExecute`, `run` or `submit`.
    public static let refuse = BarrierOverflow(policy: .refuse)

    /// Lets an awaited `run` wait for room, without a thread; see `Overflow`.
    public static let wait = BarrierOverflow(policy: .wait)
}
