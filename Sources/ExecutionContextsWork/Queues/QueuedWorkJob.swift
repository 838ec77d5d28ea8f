internal import ExecutionContexts

/// A job of a queue that is more than a closure: its position in the queue, and its phase.
@usableFromInline
class QueuedJob: @unchecked Sendable {
    // Unchecked: slot, priority, phase, parts and the flags of its outcome are accessed inside the
    // queue's section only. `entry`, and the work of a subclass, belong to the thread that has
    // moved the phase from pending or handed, under that section.
    enum Phase { case pending, handed, started, over }

    final let core: PrioritizedQueueCore
    final var priority: WorkPriority
    /// The slot in the queue, while the job is queued or handed over.
    final var slot: Int32 = 0
    final var phase = Phase.pending
    /// How many parts must end before the permit is free.
    final var parts: Int8 = 1
    /// Whether there is a promise, whose subscribers must be notified of the outcome.
    final var hasPromise = false
    /// Whether the outcome is stored, after which it never changes.
    final var hasOutcome = false
    /// Runs the job with the values bound to it; nil if nothing is bound.
    final var entry: Work?

    init(of core: PrioritizedQueueCore, _ priority: WorkPriority) {
        self.core = core
        self.priority = priority
    }

    /// Where the job comes from.
    var source: JobSource { .unknown }

    /// Whether the base's refusal is reported to the submitter.
    var mayBeRefused: Bool { true }

    /// Whether the outcome is stored when the body has returned.
    var answersAtOnce: Bool { false }

    /// Runs the body; called once, on the base, after the job has begun.
    func perform() { fatalError("A subclass of QueuedJob overrides perform().") }

    /// Called outside the section when the priority was set after the hand-over to the base.
    func priorityChanged() {}

    /// Called for a job that never starts: frees its captures, and reports the error.
    func drop(_ error: any Error) { entry = nil }

    /// Completes the promise with the stored outcome, outside of the section.
    func notify() {}

    final func run() { if let entry = entry.take() { entry() } else { perform() } }

    /// Records that the outcome is stored; true if subscribers must be notified. Inside the
    /// section.
    final func publishOutcome() -> Bool {
        hasOutcome = true
        return hasPromise
    }

    /// Ends a part of the job; true if it was the last one. Inside the section.
    final func endPart() -> Bool {
        parts -= 1
        if parts > 0 { return false }
        phase = .over
        return true
    }
}

/// A job without a result, which reports its refusal.
final class RefusableJob: QueuedJob, @unchecked Sendable {
    // Unchecked: as for every job, `work` belongs to the thread that has moved the phase.
    private var work: Work?
    private var refused: (@Sendable (Refusal) -> Void)?

    init(
        _ work: consuming @escaping Work,
        refused: consuming @escaping @Sendable (Refusal) -> Void,
        of core: PrioritizedQueueCore, _ priority: WorkPriority
    ) {
        self.work = consume work
        self.refused = consume refused
        super.init(of: core, priority)
    }

    override var source: JobSource { if let work { JobSource(of: work) } else { .unknown } }

    override func perform() {
        refused = nil
        work.take()?()
    }

    override func drop(_ error: any Error) {
        super.drop(error)
        work = nil
        if let refused = refused.take(), let refusal = error as? Refusal { refused(refusal) }
    }
}

/// A job whose result a synchronous body returns.
final class BodyJob: ResultJob, @unchecked Sendable {
    // Unchecked: as for every job, `body` belongs to the thread that has moved the phase.
    private var body: (@Sendable () -> QueuedOutcome)?

    init(
        _ body: @escaping @Sendable () -> QueuedOutcome, at place: CodePlace,
        of core: PrioritizedQueueCore, _ priority: WorkPriority
    ) {
        self.body = body
        super.init(at: place, of: core, priority)
    }

    override var answersAtOnce: Bool { true }

    override func perform() { store(runBody()) }

    /// A separate function, so that the captures of the body are freed before the permit is.
    private func runBody() -> QueuedOutcome {
        let body = body.take()!
        return body()
    }

    override func drop(_ error: any Error) {
        // The captures may cancel the next job, and so on.
        Freeing.free(body.take())
        super.drop(error)
    }
}
