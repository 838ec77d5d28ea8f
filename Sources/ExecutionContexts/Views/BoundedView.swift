extension ExecutionContext {
    /// Returns a view with at most `capacity` waiting jobs; `overflow` decides beyond.
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
        if let notify = overflow.notify {
            return BoundedView(DroppingView(base: self, capacity: capacity, notify: notify))
        }
        return BoundedView(CountedView(base: self, capacity: capacity, overflow: overflow.kind))
    }
}

extension BarrierContext {
    /// Returns a view with at most `capacity` waiting jobs; `overflow` decides beyond.
    ///
    /// Barriers count as well, and keep their position in the order of submission.
    public func bounded(to capacity: Int, overflow: BarrierOverflow) -> BoundedBarrierView {
        overflow.policy.checkCapacity(capacity, of: self)
        return BoundedBarrierView(
            ordered: CountedView(base: self, capacity: capacity, overflow: overflow.policy.kind))
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
    /// Returns a view with at most `capacity` waiting jobs; `overflow` decides beyond.
    ///
    /// Accepted jobs run one at a time and in order, as on this context.
    public func bounded(to capacity: Int, overflow: SerialOverflow) -> BoundedSerialView {
        bounded(to: capacity, overflow: overflow, as: BoundedSerialView.self)
    }

    fileprivate func bounded<View: BoundedSerialView>(
        to capacity: Int, overflow: SerialOverflow, as: View.Type
    ) -> View {
        overflow.policy.checkCapacity(capacity, of: self)
        if let notify = overflow.policy.notify {
            return View(ordered: DroppingView(base: self, capacity: capacity, notify: notify))
        }
        return View(
            ordered: CountedView(base: self, capacity: capacity, overflow: overflow.policy.kind))
    }
}

extension MainActorContext {
    /// Returns a view with at most `capacity` waiting jobs; `overflow` decides beyond.
    ///
    /// Accepted jobs run one at a time and in order, as on this context.
    public func bounded(to capacity: Int, overflow: SerialOverflow) -> BoundedMainActorView {
        bounded(to: capacity, overflow: overflow, as: BoundedMainActorView.self)
    }
}

/// A view with at most so many waiting jobs: what `bounded(to:overflow:)` returns.
///
/// It has a subclass for contexts that keep barriers, for serial ones, and for the main actor's.
public class BoundedView: RefusingContext, @unchecked Sendable {
    // Unchecked only because it can be inherited from: it has a Sendable constant.
    private let view: any RefusingContext

    fileprivate init(_ view: some RefusingContext) { self.view = view }

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
private final class DroppingView<Base: ExecutionContext>:
    Drainer, ContextDecorator, RefusingContext, @unchecked Sendable  // See below.
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
        admit(WaitingJob(work: bound(consume work)))
    }

    func execute(
        _ work: consuming @escaping Work, refused: consuming @escaping @Sendable (Refusal) -> Void
    ) {
        admit(WaitingJob(work: bound(consume work), refused: consume refused))
    }

    /// The newest job always has room. If it is dropped later, `notify` reports it.
    func tryExecute(_ work: consuming @escaping Work) throws(Refusal) {
        try Deadline.ofCaller?.admit(by: name, from: nil)
        execute(consume work)
    }

    /// Enters above the capacity and is never dropped: the job was accepted before.
    func enqueue(_ work: consuming @escaping Work) {
        let work = UnmanagedWork(bound(consume work))
        queue.withLock { $0.append(WaitingJob(work: work.assembled()), wasAccepted: true) }
        requestDrainLater(on: base)
    }

    private func admit(_ job: consuming WaitingJob) {
        // Moved, so that the thread that runs the job frees it, and not this one (law 10).
        var job: WaitingJob? = consume job
        var dropped = queue.withLock { queue in
            let dropped = queue.droppable < capacity ? nil : queue.dropFirst()
            if let job = job.take() { queue.append(job) }
            return dropped
        }
        if dropped == nil { return requestDrain(on: base) }
        // The job of another caller, whose deadline is not this thread's (law 38).
        Deadline.without {
            guard let job = dropped.take() else { return }
            (job.refused ?? notify)(Refusal(.droppedForNewer, by: name))
        }
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
    private var jobs = FIFO<(number: Int, job: WaitingJob)>()
    private var accepted = FIFO<(number: Int, job: WaitingJob)>()
    private var last = 0

    /// How many jobs may be dropped.
    var droppable: Int { jobs.count }

    mutating func append(_ job: WaitingJob, wasAccepted: Bool = false) {
        last += 1
        wasAccepted ? accepted.append((last, job)) : jobs.append((last, job))
    }

    mutating func dropFirst() -> WaitingJob? { jobs.popFirst()?.job }

    mutating func popFirst() -> WaitingJob? {
        let isAcceptedFirst = (accepted.first?.number ?? .max) < (jobs.first?.number ?? .max)
        return isAcceptedFirst ? accepted.popFirst()?.job : jobs.popFirst()?.job
    }
}

/// A job that waits in a bounded view.
private struct WaitingJob: Sendable {
    /// How the base gets the job.
    enum Way { case job, barrier, accepted }

    let work: Work
    /// Called if the job will not run; nil for plain submissions.
    var refused: (@Sendable (Refusal) -> Void)?
    var way = Way.job
    /// The number that it was sent with; zero for a job that its submitter sends.
    var number = 0
}

/// What a bounded view does with a job for which it has no room.
///
/// `tryExecute` throws; `run` and `submit` resolve with a refusal. Plain `execute` cannot refuse,
/// so each policy states what it does then (law 1).
public struct Overflow: Sendable {
    fileprivate enum Kind: Sendable { case refuse, callerRuns, wait, dropOldest }

    fileprivate let kind: Kind
    /// What `dropOldest` calls; nil for the other policies.
    fileprivate var notify: (@Sendable (Refusal) -> Void)?

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
        Overflow(kind: .dropOldest, notify: notify)
    }

    /// Lets an awaited `run` wait for room, without a thread.
    ///
    /// `tryExecute` throws; plain `execute` traps with a message. Waiting jobs enter in the order
    /// of submission, after delayed jobs that are due.
    ///
    /// A barrier that is submitted while such a job enters follows it (law 3). Until the barrier
    /// has entered, a `tryExecute` throws if the context itself may refuse.
    public static let wait = Overflow(kind: .wait)
}

/// What a bounded view of a serial context does with a job for which it has no room.
///
/// Every policy of `Overflow` except `callerRuns`: a job that runs on its submitter would run
/// beside the running job of the context (laws 2, 8).
public struct SerialOverflow: Sendable {
    fileprivate let policy: Overflow

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
    fileprivate let policy: Overflow

    /// Refuses the job. Plain `execute` traps with a message: use `tryExecute`, `run` or `submit`.
    public static let refuse = BarrierOverflow(policy: .refuse)

    /// Lets an awaited `run` wait for room, without a thread; see `Overflow`.
    public static let wait = BarrierOverflow(policy: .wait)
}

/// A bounded view that counts the jobs waiting on its base, and refuses, runs inline or holds back
/// the jobs beyond its capacity. The base gets each job, so its order and barriers are the view's.
private final class CountedView<Base: ExecutionContext>: ContextDecorator, RefusingContext {
    let base: Base
    private let capacity: Int
    private let overflow: Overflow.Kind
    /// The base, if it may refuse a job.
    private let refusing: (any RefusingContext)?
    private let room: Guarded<Room>

    init(base: Base, capacity: Int, overflow: Overflow.Kind) {
        self.base = base
        refusing = base as? any RefusingContext
        self.capacity = capacity
        self.overflow = overflow
        let keepsBarriers = base is any BarrierContext && !(base is any SerialContext)
        room = Guarded(Room(capacity: capacity, keepsBarriers: keepsBarriers))
    }

    func execute(_ work: consuming @escaping Work) {
        do throws(Refusal) { try admit(consume work) } catch { error.stop() }
    }

    func execute(
        _ work: consuming @escaping Work, refused: consuming @escaping @Sendable (Refusal) -> Void
    ) {
        // A later `leave`, on another thread, may send the job: bind the submitter's values here.
        var job: WaitingJob? = WaitingJob(work: bound(consume work), refused: consume refused)
        let entry = room.withLock { room in
            let entry = room.enter(.job)
            if entry == .follows { room.follow(&job) }
            if entry == .full, overflow == .wait { room.hold(&job) }
            return entry
        }
        // If `room` has the job, another thread sends it. Otherwise ownership moves on to the
        // thread that runs the job, which then frees it (law 10).
        guard let job = job.take() else { return }
        if entry != .full {
            send(consume job)
        } else if overflow == .callerRuns {
            job.work()
        } else {
            job.refused?(full)
        }
    }

    func tryExecute(_ work: consuming @escaping Work) throws(Refusal) {
        try Deadline.ofCaller?.admit(by: name, from: nil)
        try admit(consume work, by: refusing)
    }

    /// Sends the job to the base, to `refusing` if that may refuse it.
    private func admit(
        _ work: consuming @escaping Work, by refusing: (any RefusingContext)? = nil
    ) throws(Refusal) {
        // Whether a refusing base takes the job has to be known now: it can follow no other job.
        let entry = room.withLock { $0.enter(.job, mayFollow: refusing == nil) }
        if entry == .full {
            guard overflow == .callerRuns else { throw full }
            return work()
        }
        guard let refusing else { return submit(WaitingJob(work: consume work), entry) }
        // A base that refuses the job frees its closure, by which the job leaves the room.
        let counted = CountedJob(job: WaitingJob(work: consume work), view: self)
        try refusing.tryExecute(CompletionGuard.work(for: consume counted))
    }

    /// Enters above the capacity too: the job was accepted before.
    func enqueue(_ work: consuming @escaping Work) {
        let entry = room.withLock { $0.enter(.accepted) }
        submit(WaitingJob(work: consume work, way: .accepted), entry)
    }

    /// Sends a job that has entered, or has it sent after the jobs that it follows.
    private func submit(_ job: consuming WaitingJob, _ entry: Room.Entry) {
        if entry == .enters { return send(consume job) }
        let way = job.way
        var job: WaitingJob? = WaitingJob(work: bound((consume job).work), way: way)
        room.withLock { $0.follow(&job) }
        // They have arrived meanwhile.
        if let job = job.take() { send(consume job) }
    }

    var facts: ContextFacts { .boundedView(of: base) }

    private var full: Refusal { Refusal(.full(capacity: capacity), by: name) }

    // Succession: a job that leaves the room sends the next held job.

    private func send(_ job: consuming WaitingJob) {
        let (isPlain, way) = (job.refused == nil, job.way)
        let waiting = CountedJob(job: consume job, view: self)
        guard isPlain else {
            let (work, refused) = CompletionGuard.closures(for: consume waiting)
            return base.execute(consume work, refused: consume refused)
        }
        let work = CompletionGuard.work(for: consume waiting)
        switch way {
        case .job: base.execute(consume work)
        case .accepted: base.enqueue(consume work)
        case .barrier: (base as? any BarrierContext)?.executeBarrier(consume work)
        }
    }

    /// Runs a job that leaves the room, and sends the next held job.
    ///
    /// 1. The next job is sent before this one runs: a concurrent base may run both in parallel.
    /// 2. A base that runs the next job inside that call hands it back: see `defers`.
    /// 3. A job that was handed back is sent again after this one has run. So the order is kept,
    ///    and the stack does not grow.
    private func run(_ job: consuming WaitingJob) {
        // Freed after it has run and before the next job runs (law 10).
        var job: WaitingJob? = consume job
        guard let next = room.withLock({ $0.leave() }) else {
            job.take()?.work()
            return
        }
        if let outer = unsafe succession, unsafe outer.pointee.sendsNext {
            unsafe outer.pointee.waiting.append(consume next)
            job.take()?.work()
            return
        }
        unsafe sendAll(consume next) { succession in
            unsafe succession.pointee.phase = .starting
            while unsafe !succession.pointee.baseRanInline, unsafe sendFirst(of: succession) {}
            unsafe succession.pointee.phase = .running
            job.take()?.work()
        }
    }

    /// Sends the next held job, because a job has left the room without running.
    private func leave() {
        guard let next = room.withLock({ $0.leave() }) else { return }
        if let outer = unsafe succession, unsafe outer.pointee.sendsNext {
            unsafe outer.pointee.waiting.append(consume next)
        } else {
            unsafe sendAll(consume next) { _ in }
        }
    }

    /// Runs `body`, then sends `next` and, one after the other, the jobs that follow it.
    private func sendAll(
        _ next: consuming WaitingJob, _ body: (UnsafeMutablePointer<Succession>) -> Void
    ) {
        var succession = Succession()
        succession.waiting.append(consume next)
        unsafe withUnsafeMutablePointer(to: &succession) { succession in
            unsafe Frame.enter(Frame.owner(self), note: Int(bitPattern: succession)) {
                unsafe body(succession)
                unsafe succession.pointee.phase = .sending
                while unsafe sendFirst(of: succession) {}
            }
        }
    }

    /// Sends one job that is under way; false if there is none.
    private func sendFirst(of succession: UnsafeMutablePointer<Succession>) -> Bool {
        guard let next = unsafe succession.pointee.waiting.popFirst() else { return false }
        unsafe succession.pointee.number = next.number
        send(consume next)
        if let follower = room.withLock({ $0.arrive() }) {
            unsafe succession.pointee.waiting.append(consume follower)
        }
        return true
    }

    /// The succession of this view that is under way further up this thread's stack.
    private var succession: UnsafeMutablePointer<Succession>? {
        unsafe Frame.note(of: Frame.owner(self)).flatMap {
            unsafe UnsafeMutablePointer(bitPattern: $0)
        }
    }

    /// Whether the base runs `job` inside the call that sends it, before the sending job has begun;
    /// then the job is queued in the succession, and sent later.
    ///
    /// Another job that the base runs inside that call is not handed back: the base has put it in
    /// an order with others (law 3).
    private func defers(_ job: WaitingJob) -> Bool {
        guard let outer = unsafe succession,
            unsafe outer.pointee.phase == .starting && outer.pointee.number == job.number
        else { return false }
        unsafe outer.pointee.baseRanInline = true
        let job = room.withLock { $0.depart(job) }
        unsafe outer.pointee.waiting.append(job)
        return true
    }

    /// A job that waits on the base: until it starts, is refused, or is dropped by the base.
    private struct CountedJob: GuardedJob {
        var job: WaitingJob?
        let view: CountedView

        var source: JobSource { job.map { JobSource(of: $0.work) } ?? .unknown }

        static var hasSchedulingPoint: Bool { true }

        mutating func run() {
            guard let job = job.take() else { return }
            if !view.defers(job) { view.run(consume job) }
        }

        mutating func refuse(_ refusal: Refusal) {
            guard let job = job.take() else { return }
            Deadline.without { view.leave() }
            job.refused?(refusal)
        }

        mutating func drop() {
            // What the captures do, and the next job, are not this thread's caller's (law 38).
            Deadline.without {
                job = nil
                view.leave()
            }
        }
    }
}

extension CountedView: BarrierContext where Base: BarrierContext {
    func executeBarrier(_ work: consuming @escaping Work) {
        let entry = room.withLock { $0.enter(.barrier) }
        if entry == .full { full.stop() }
        submit(WaitingJob(work: consume work, way: .barrier), entry)
    }
}

extension CountedView: SerialContext where Base: SerialContext {}

/// The jobs that a job leaving the room has to send, one after the other; on that job's stack.
private struct Succession: ~Copyable {
    enum Phase { case starting, running, sending }

    var phase = Phase.sending
    var waiting = FIFO<WaitingJob>()
    /// The number of the job that is being sent.
    var number = 0
    /// Whether the base ran a job inline before this one had begun, so that it was deferred.
    var baseRanInline = false

    /// Whether a job that runs or ends inside this one leaves the sending of its successor to it.
    var sendsNext: Bool { phase != .running || !waiting.isEmpty }
}

/// The number of jobs that wait on the base, and the jobs held until there is room.
///
/// A held job is under way from the moment when there is room for it until the base has it. A
/// barrier that is submitted meanwhile follows it, and what is submitted next follows the barrier:
/// they wait here, so that they do not reach the base first (law 3).
private struct Room: ~Copyable {
    /// What becomes of a submission.
    enum Entry { case enters, follows, full }

    private let capacity: Int
    /// Whether the base keeps barriers, and runs other jobs beside each other.
    private let keepsBarriers: Bool
    private var waiting = 0
    /// The jobs that wait for room; only a job that can be refused does.
    private var held = FIFO<WaitingJob>()
    private var underWay = 0
    /// What follows the jobs that are under way. It is sent one job at a time, in order.
    private var followers = FIFO<WaitingJob>()
    /// Whether the job that is under way is a follower.
    private var sendsFollowers = false
    private var lastNumber = 0

    init(capacity: Int, keepsBarriers: Bool) {
        self.capacity = capacity
        self.keepsBarriers = keepsBarriers
    }

    mutating func enter(_ way: WaitingJob.Way, mayFollow: Bool = true) -> Entry {
        guard waiting < capacity || way == .accepted else { return .full }
        let follows = follows(way)
        if follows && !mayFollow { return .full }
        waiting += 1
        return follows ? .follows : .enters
    }

    private func follows(_ way: WaitingJob.Way) -> Bool {
        sendsFollowers || !followers.isEmpty || keepsBarriers && way == .barrier && underWay > 0
    }

    /// Takes a job that has entered, if it still follows another.
    mutating func follow(_ job: inout WaitingJob?) {
        guard let way = job?.way, follows(way), let job = job.take() else { return }
        followers.append(job)
    }

    /// Keeps a job until there is room; moved, so that its submitter does not free it (law 10).
    mutating func hold(_ job: inout WaitingJob?) { if let job = job.take() { held.append(job) } }

    /// Takes one job out of the count, and returns the next held job that the caller has to send,
    /// if any. The caller frees it outside of the lock (law 9).
    mutating func leave() -> WaitingJob? {
        waiting -= 1
        guard waiting < capacity, let next = held.popFirst() else { return nil }
        waiting += 1
        if follows(next.way) {
            followers.append(next)
            return nil
        }
        return depart(next)
    }

    /// A job is under way: it was held, or follows, or the base has handed it back. It gets a
    /// number.
    mutating func depart(_ job: WaitingJob) -> WaitingJob {
        underWay += 1
        lastNumber += 1
        var job = job
        job.number = lastNumber
        return job
    }

    /// The base has a job that was under way. Returns the follower that the caller has to send.
    mutating func arrive() -> WaitingJob? {
        underWay -= 1
        guard underWay == 0 else { return nil }
        let next = followers.popFirst().map { depart($0) }
        sendsFollowers = next != nil
        return next
    }
}

extension Refusal {
    /// Traps with a message: plain `execute` has no way to refuse a job.
    fileprivate func stop() -> Never {
        stopMisuse("\(self) Plain execute cannot be refused: use tryExecute or run.")
    }
}
