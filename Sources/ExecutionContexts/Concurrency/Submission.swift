/// A job that owes exactly one answer: a value, the body's error, cancelled, refused or abandoned
/// (law 1).
///
/// | decided by | the answer |
/// | --- | --- |
/// | the job | the body's value or error |
/// | `cancel` | cancelled |
/// | the context | refused, or abandoned if it drops the job |
///
/// The body waits here, not in the context, so that cancelling frees its captures at once. The
/// context gets a completion guard only.
///
/// It does not know the type of the value: a generic type is looked up at every use.
final class Submission: @unchecked Sendable {
    // Unchecked: `job` and `fail` are written before any other thread knows of this object, and
    // taken by the thread that decides the answer.
    private let decision = Decision()
    /// Runs the body and answers.
    private var job: Work?
    private var fail: Failing?
    private let location: CodePlace

    /// Answers with an error.
    typealias Failing = @Sendable (any Error) -> Void

    init(at location: CodePlace) { self.location = location }

    /// Submits the job to a context. One of `job` and `fail` is called, once, by the thread that
    /// decides the answer.
    ///
    /// Called once, before any other method.
    func send(
        to context: some ExecutionContext, _ job: @escaping Work, fail: @escaping Failing
    ) {
        (self.job, self.fail) = (job, fail)
        let (work, refused) = CompletionGuard.closures(
            for: SentJob(submission: self, context: context.name))
        context.execute(consume work, refused: consume refused)
    }

    /// Cancels the job if it has not started: true if it never will.
    func cancel() -> Bool { finish(CancellationError()) }

    /// Where it was submitted, as file and line.
    var sourceLocation: String { location.call }

    fileprivate func run() {
        guard decision.make() else { return }
        fail = nil
        job.take()?()
    }

    fileprivate func finish(_ error: any Error) -> Bool {
        guard decision.make() else { return false }
        Freeing.free(job.take())
        fail.take()?(error)
        return true
    }

    fileprivate func refuse(_ refusal: Refusal) {
        var refusal = refusal
        refusal.sourceLocation = sourceLocation
        _ = finish(refusal)
    }

    /// The job as the context gets it.
    private struct SentJob: GuardedJob {
        let submission: Submission
        let context: String

        var source: JobSource { JobSource(submission.location) }

        func run() { submission.run() }

        func refuse(_ refusal: Refusal) { submission.refuse(refusal) }

        func drop() { refuse(Refusal(.abandoned, by: context)) }
    }
}

/// The future state of a job that was submitted to a context.
@usableFromInline
final class SubmittedState: FutureState, @unchecked Sendable {
    // Unchecked: the context is read while the state is locked and pending, and released by the
    // thread that ended it.
    private let submission: Submission
    private var context: (any ExecutionContext)?

    @usableFromInline
    init(fileID: StaticString, line: UInt) {
        submission = Submission(at: CodePlace(fileID, line))
        super.init(tag: Self.holdsUntilCompletion)
    }

    /// Submits a job that completes this state.
    @usableFromInline
    func send(to context: some ExecutionContext, _ job: @escaping Work) {
        self.context = context
        submission.send(to: context, job) { _ = self.complete(throwing: $0) }
    }

    /// A job that has started runs to its end, and then it has not been cancelled.
    @usableFromInline
    override func cancel() -> Bool { submission.cancel() }

    override func escalateTask(to priority: TaskPriority) {
        whilePending { context }?.facts.raise?(priority)
    }

    override func didComplete() { context = nil }

    override var obstacle: String? {
        guard let context = whilePending({ context }), context.isKeptBusyByCaller else {
            return nil
        }
        return "it is submitted to '\(context.name)', which the caller keeps busy"
    }

    override var label: String {
        let destination = whilePending({ context }).map { " to '\($0.name)'" } ?? ""
        return "submitted\(destination) at \(submission.sourceLocation)"
    }
}

/// The body of a job, which is freed before the caller gets its answer (law 10).
@usableFromInline
@_fixed_layout
final class SubmittedBody<Value: Sendable>: @unchecked Sendable {
    // Unchecked, also at run time: only the thread that runs the job accesses the body.
    @usableFromInline
    @exclusivity(unchecked) var body: (@Sendable () throws -> Value)?

    @inlinable
    init(_ body: @escaping @Sendable () throws -> Value) { unsafe self.body = body }

    /// Runs the body once, and frees it.
    @inlinable
    func run() -> Result<Value, any Error> {
        defer { unsafe body = nil }
        return outcome(of: unsafe body.unsafelyUnwrapped)
    }
}

/// Runs a body, and lets observers of the job know how it ended.
@inlinable
func outcome<Value>(of body: () throws -> Value) -> Result<Value, any Error> {
    do {
        let value = try body()
        noteEnd(nil)
        return .success(value)
    } catch {
        noteEnd(error)
        return .failure(error)
    }
}

@usableFromInline
func noteEnd(_ error: (any Error)?) { Frame.noteEnd(error) }

/// The body of a job that a task awaits, or what came of it.
///
/// A variable in a box of the caller's module, which knows its type. An object of a generic class
/// looks up the size of what it frees.
@frozen @usableFromInline
enum AwaitedBody<Value: Sendable> {
    case waiting(@Sendable () throws -> Value)
    case ended(Result<Value, any Error>)
    /// It has begun, or will never run.
    case none

    /// The body, once.
    @inlinable
    mutating func take() -> (@Sendable () throws -> Value)? {
        guard case .waiting(let body) = self else { return nil }
        self = .none
        return body
    }

    @inlinable
    var outcome: Result<Value, any Error>? {
        if case .ended(let outcome) = self { outcome } else { nil }
    }
}
