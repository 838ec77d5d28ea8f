internal import ExecutionContexts

/// A job of a queue: its position in the queue, and its phase.
class QueuedJob: @unchecked Sendable {
    // Unchecked: slot, priority, phase, parts and `handingThread` are accessed inside the queue's
    // section only. `entry`, and what a subclass has to run, belong to the thread that has moved
    // the phase from pending or handed, under that section.
    enum Phase { case pending, handed, started, over }

    final let core: PrioritizedQueueCore
    final var priority: WorkPriority
    /// The slot in the queue, while the job is queued.
    final var slot: Int32 = 0
    final var phase = Phase.pending
    /// How many parts have to end before the permit is free.
    final var parts = 1
    /// The thread that is handing the job to the base, until the base has returned.
    final var handingThread: ThreadMark?
    /// Runs the job with what is bound to it; nil if nothing is bound.
    final var entry: Work?

    init(of core: PrioritizedQueueCore, _ priority: WorkPriority) {
        self.core = core
        self.priority = priority
    }

    /// Whether the base's refusal is reported to the submitter.
    var mayBeRefused: Bool { true }

    /// Runs the job and ends it; called once, on the base, after the job has begun.
    func perform() { fatalError("A subclass of QueuedJob overrides perform().") }

    /// Called outside the section when the priority was set after the hand-over to the base.
    func priorityChanged() {}

    /// Called for a job that never starts: frees its captures, and reports the error.
    func drop(_ error: any Error) { entry = nil }

    fileprivate final func enter() {
        guard core.begin(self) else { return }
        if let entry = entry.take() { entry() } else { perform() }
    }
}

/// A queued job as the base holds it.
struct QueuedEntry: GuardedJob {
    let job: QueuedJob

    func run() { job.enter() }

    func refuse(_ refusal: Refusal) { job.core.refuse(job, refusal) }

    func drop() { refuse(Refusal(.abandoned, by: job.core.base.name)) }
}

/// A job without a result, which reports at most its refusal.
final class PlainJob: QueuedJob, @unchecked Sendable {
    // Unchecked: as for every job, `work` belongs to the thread that has moved the phase.
    private var work: Work?
    private var refused: (@Sendable (Refusal) -> Void)?

    init(
        _ work: @escaping Work, refused: (@Sendable (Refusal) -> Void)?,
        of core: PrioritizedQueueCore,
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

    /// A separate function, so that the captures of the work are freed before the permit is.
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

/// A job with a result.
class ResultJob<Value: Sendable>: QueuedJob, @unchecked Sendable {
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

    /// Called when a caller cancels a job that has started.
    func stop() {}

    /// Called when the `Async` is cancelled, so that the result has no receiver.
    func asyncWasCancelled() { _ = core.cancel(self) }
}

/// A job whose result a synchronous body returns.
final class BodyJob<Value: Sendable>: ResultJob<Value>, @unchecked Sendable {
    // Unchecked: as for every job, `body` belongs to the thread that has moved the phase.
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

    /// A separate function, so that the captures of the body are freed before the permit is.
    private func runBody() -> Result<Value, any Error> {
        let body = body.take()!
        return Result { try body() }
    }

    override func drop(_ error: any Error) {
        body = nil
        super.drop(error)
    }
}
