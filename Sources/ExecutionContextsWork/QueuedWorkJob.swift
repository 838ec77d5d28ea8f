internal import ExecutionContexts
internal import Synchronization

/// A piece of work in a queue: its place in a line, and how far it has come.
class QueuedJob: @unchecked Sendable {
    // Unchecked: slot, priority, phase, parts and hander are reached inside the queue's section
    // only. `entry`, and what a kind of job has to run, belong to whoever has moved the phase from
    // pending or handed, under that section.
    enum Phase { case pending, handed, started, over }

    final let core: PrioritizedQueueCore
    final var priority: WorkPriority
    /// Where it stands, while it waits.
    final var slot: Int32 = 0
    final var phase = Phase.pending
    /// How many things have to be over before its place is free.
    final var parts = 1
    /// The thread that is about to give it to the base, until the base has returned.
    final var hander: ThreadMark?
    /// How it is to be entered with what is bound to it, where that is anything.
    final var entry: Work?

    init(of core: PrioritizedQueueCore, _ priority: WorkPriority) {
        self.core = core
        self.priority = priority
    }

    /// Whether somebody is told if the base refuses it.
    var mayBeRefused: Bool { true }

    /// Runs it and ends it; called once, on the base, after it has begun.
    func perform() { fatalError("Each kind of job says how it runs.") }

    /// Its priority was set after it was handed to the base; outside of the section.
    func priorityChanged() {}

    /// It never starts: frees what it captured, and says why.
    func drop(_ error: any Error) { entry = nil }

    fileprivate final func enter() {
        guard core.begin(self) else { return }
        if let entry = entry.take() { entry() } else { perform() }
    }
}

/// What the base holds: if it dies unused, the base has let go of the work.
final class QueuedTurn: Sendable {
    private let job: QueuedJob
    private let isSpent = Atomic<Bool>(false)

    init(of job: QueuedJob) { self.job = job }

    deinit { refuse(Refusal(.abandoned, by: job.core.base.name)) }

    func run() { if spend() { job.enter() } }

    func refuse(_ refusal: Refusal) { if spend() { job.core.refuse(job, refusal) } }

    // Relaxed: what the job needs to see it sees by the queue's lock.
    private func spend() -> Bool { !isSpent.exchange(true, ordering: .relaxed) }
}

/// Work that nobody waits for; at most somebody is told if it is refused.
final class PlainJob: QueuedJob, @unchecked Sendable {
    // Unchecked: as for every job, `work` belongs to whoever has moved the phase.
    private var work: Work?
    private var refused: (@Sendable (Refusal) -> Void)?

    init(
        _ work: @escaping Work, refused: (@Sendable (Refusal) -> Void)?, of core: PrioritizedQueueCore,
        _ priority: WorkPriority
    ) {
        self.work = work
        self.refused = refused
        super.init(of: core, priority)
    }

    override var mayBeRefused: Bool { refused != nil }

    override func perform() {
        runWork()
        core.end(self) {}
    }

    /// A function of its own, so that what the work captured is freed before the place is.
    private func runWork() {
        refused = nil
        work.take()?()
    }

    override func drop(_ error: any Error) {
        super.drop(error)
        work = nil
        if let refused = refused.take(), let refusal = error as? Refusal { refused(refusal) }
    }
}

/// Work that owes an answer.
class AnswerJob<Value: Sendable>: QueuedJob, @unchecked Sendable {
    // Unchecked: the promise never changes; the rest as for every job.
    final let promise: Promise<Value>

    init(_ promise: Promise<Value>, of core: PrioritizedQueueCore, _ priority: WorkPriority) {
        self.promise = promise
        super.init(of: core, priority)
    }

    override func drop(_ error: any Error) {
        super.drop(error)
        promise.fail(error)
    }

    /// Whoever holds the work does not want it any more, and it has started.
    func stop() {}

    /// Nobody will hear its answer.
    func asyncWasCancelled() { _ = core.cancel(self) }
}

/// Work whose answer a synchronous body brings.
final class BodyJob<Value: Sendable>: AnswerJob<Value>, @unchecked Sendable {
    // Unchecked: as for every job, `body` belongs to whoever has moved the phase.
    private var body: (@Sendable () throws -> Value)?

    init(
        _ body: @escaping @Sendable () throws -> Value, _ promise: Promise<Value>,
        of core: PrioritizedQueueCore, _ priority: WorkPriority
    ) {
        self.body = body
        super.init(promise, of: core, priority)
    }

    override func perform() {
        let result = runBody()
        core.end(self) { promise.complete(result) }
    }

    /// A function of its own, so that what the body captured is freed before the place is.
    private func runBody() -> Result<Value, any Error> {
        let body = body.take()!
        return Result { try body() }
    }

    override func drop(_ error: any Error) {
        body = nil
        super.drop(error)
    }
}
