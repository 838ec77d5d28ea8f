internal import Synchronization

/// The states of a submission.
private enum State: UInt8, AtomicRepresentable { case idle, sent, done }

/// A job that owes exactly one answer: a value, the body's error, cancelled, refused or abandoned
/// (law 1).
///
/// | from | to | by | answer |
/// | --- | --- | --- | --- |
/// | `idle` | `sent` | `send` | later |
/// | `idle` | `done` | `cancel` | cancelled, by the `send` that follows |
/// | `sent` | `done` | the job | the body's value or error |
/// | `sent` | `done` | `cancel` | cancelled |
/// | `sent` | `done` | the context | refused, or abandoned if it drops the job |
///
/// The body waits here, not in the context, so that cancelling frees its captures at once. The
/// context gets a completion guard only.
///
/// It does not know the type of the value: a generic type is looked up at every use.
final class Submission: @unchecked Sendable {
    // Unchecked: `job` and `fail` are written before `state` leaves idle, and taken by the thread
    // that moves it to done. Every move acquires and releases, so the taker sees what the writer
    // wrote.
    private let state = Atomic<State>(.idle)
    /// Runs the body and answers.
    private var job: Work?
    private var fail: Failing?
    private let location: CodeLocation

    /// Answers with an error.
    typealias Failing = @Sendable (any Error) -> Void

    init(at location: CodeLocation) { self.location = location }

    /// Submits the job to a context. One of `job` and `fail` is called, once, by the thread that
    /// moves the state to done.
    func send(
        to context: some ExecutionContext, _ job: @escaping Work, fail: @escaping Failing
    ) {
        (self.job, self.fail) = (job, fail)
        guard move(from: .idle, to: .sent) else {
            // Cancelled before it was sent.
            (self.job, self.fail) = (nil, nil)
            return fail(CancellationError())
        }
        let (work, refused) = CompletionGuard.closures(
            for: SentJob(submission: self, context: context.name))
        context.execute(consume work, refused: consume refused)
    }

    /// Cancels the job if it has not started: true if it never will.
    @discardableResult
    func cancel() -> Bool {
        move(from: .idle, to: .done) || finish(CancellationError())
    }

    /// Where it was submitted, as file and line.
    var sourceLocation: String { "\(location)" }

    fileprivate func run() {
        guard move(from: .sent, to: .done) else { return }
        fail = nil
        job.take()?()
    }

    fileprivate func finish(_ error: any Error) -> Bool {
        guard move(from: .sent, to: .done) else { return false }
        BoundedNesting.free(job.take())
        fail.take()?(error)
        return true
    }

    fileprivate func refuse(_ refusal: Refusal) {
        var refusal = refusal
        refusal.sourceLocation = sourceLocation
        _ = finish(refusal)
    }

    private func move(from old: State, to new: State) -> Bool {
        SimulationHooks.point()
        return state.compareExchange(expected: old, desired: new, ordering: .acquiringAndReleasing)
            .exchanged
    }

    /// The job as the context gets it.
    private struct SentJob: GuardedJob {
        let submission: Submission
        let context: String

        var source: JobSource { JobSource(submission.location.place) }

        func run() { submission.run() }

        func refuse(_ refusal: Refusal) { submission.refuse(refusal) }

        func drop() { refuse(Refusal(.abandoned, by: context)) }
    }
}

/// The body of a submission, which is freed before the answer: then the caller may continue
/// (law 10).
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
        let result: Result<Value, any Error>
        do {
            result = .success(try unsafe body.unsafelyUnwrapped())
            noteEnd(nil)
        } catch {
            result = .failure(error)
            noteEnd(error)
        }
        unsafe body = nil
        return result
    }

    /// Lets observers of the job know how it ended.
    @usableFromInline
    func noteEnd(_ error: (any Error)?) { Frame.noteEnd(error) }
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
        submission = Submission(at: CodeLocation(fileID, line))
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
        (whilePending { context } as? any EscalatingContext)?.raise(to: priority)
    }

    override func didComplete() { context = nil }

    override var obstacle: String? {
        guard let context = whilePending({ context }), context is any SerialContext,
            context.isCurrent == true
        else { return nil }
        return "it is submitted to '\(context.name)', which the caller keeps busy"
    }

    override var label: String {
        let destination = whilePending({ context }).map { " to '\($0.name)'" } ?? ""
        return "submitted\(destination) at \(submission.sourceLocation)"
    }
}
