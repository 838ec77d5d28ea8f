internal import ExecutionContexts

/// The outcome of a job, whose value has the type of its ``QueuedWork``.
///
/// Not a `Result`: the jobs would be generic, and the type of each would be looked up at run time.
@usableFromInline
enum QueuedOutcome: Sendable {
    /// A ``QueuedValue`` of the submission's type.
    case success(any Sendable)
    case failure(any Error)

    init<Value: Sendable>(_ result: Result<Value, any Error>) {
        switch result {
        case .success(let value): self = .success(QueuedValue(value))
        case .failure(let error): self = .failure(error)
        }
    }

    func result<Value: Sendable>(of type: Value.Type) -> Result<Value, any Error> {
        switch self {
        case .success(let carried as QueuedValue<Value>): .success(carried.value)
        case .success: preconditionFailure("A job has the type of its submission.")
        case .failure(let error): .failure(error)
        }
    }
}

/// The value of a job. A cast of the bare value would change an optional of an optional.
@usableFromInline
struct QueuedValue<Value: Sendable>: Sendable {
    let value: Value

    @usableFromInline
    init(_ value: Value) { self.value = value }
}

/// A job with a result.
///
/// A promise is created at the first request of its `Async`; until then the outcome is stored here.
/// So a job whose `Async` is never requested has no promise.
@usableFromInline
class ResultJob: QueuedJob, @unchecked Sendable {
    // Unchecked: `promise` and `complete` are accessed inside the section, and never change once
    // they are set. `outcome` is written by the one thread that decides it, before `hasOutcome` is
    // set inside the section; then it is read there, or taken by the thread that notifies. The rest
    // as for every job.
    @exclusivity(unchecked) private var outcome: QueuedOutcome?
    private var promise: (any Sendable)?
    /// Completes the promise.
    private var complete: (@Sendable (QueuedOutcome) -> Void)?
    final let place: CodePlace

    init(
        at place: CodePlace, of core: PrioritizedQueueCore, _ priority: WorkPriority
    ) {
        self.place = place
        super.init(of: core, priority)
    }

    override var source: JobSource { JobSource(place) }

    /// The promise of the result, made at the first call. `Value` is the type of the submission.
    final func result<Value: Sendable>(of type: Value.Type) -> Promise<Value> {
        if let promise = core.locked({ promise }) { return promise as! Promise<Value> }
        let made = Promise<Value>(at: place)
        let complete: @Sendable (QueuedOutcome) -> Void = { made.complete($0.result(of: type)) }
        // A job that has ended: its promise completes before another caller can see it.
        if let outcome = core.locked({ hasOutcome ? unsafe outcome : nil }) { complete(outcome) }
        switch core.locked({ publish(made, complete) }) {
        case .made: made.onCancel { self.asyncWasCancelled() }
        case .over(let outcome): complete(outcome)
        case .known(let promise): return promise as! Promise<Value>
        }
        return made
    }

    private enum Publication {
        case made
        /// The job has ended with this outcome.
        case over(QueuedOutcome)
        /// Another call has created one.
        case known(any Sendable)
    }

    /// Makes `made` the promise of the job, unless it has one. Inside the section.
    private func publish(
        _ made: any Sendable, _ complete: @escaping @Sendable (QueuedOutcome) -> Void
    ) -> Publication {
        if let promise { return .known(promise) }
        promise = made
        self.complete = complete
        hasPromise = true
        if hasOutcome, let outcome = unsafe outcome { return .over(outcome) }
        return .made
    }

    override final func notify() {
        guard let outcome = unsafe outcome.take() else { return }
        complete?(outcome)
    }

    override func drop(_ error: any Error) {
        super.drop(error)
        store(.failure(error))
        if core.locked({ publishOutcome() }) { notify() }
    }

    /// Stores the outcome, for the end of the part that has decided it.
    final func store(_ outcome: QueuedOutcome) { unsafe self.outcome = outcome }

    /// Ends a part of the job with an outcome, which no other part has.
    final func end(with outcome: QueuedOutcome) {
        store(outcome)
        core.end(self, answers: true)
    }

    /// Called when a caller cancels a job that has started, whose result has this type.
    func stop<Value: Sendable>(_ type: Value.Type) {}

    /// Called when the `Async` is cancelled, so that the result has no receiver.
    func asyncWasCancelled() { _ = core.cancel(self) }
}
