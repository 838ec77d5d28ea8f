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
final class Submission<Value: Sendable>: @unchecked Sendable {
    // Unchecked: `body` and `answer` are written before `state` leaves idle, and taken by the
    // thread that moves it to done. Every move acquires and releases, so the taker sees what the
    // writer wrote.
    typealias Answer = @Sendable (Result<Value, any Error>) -> Void

    private let state = Atomic<State>(.idle)
    private var body: (@Sendable () throws -> Value)?
    private var answer: Answer?
    private let location: (fileID: StaticString, line: UInt)

    init(
        location: (fileID: StaticString, line: UInt), _ body: @escaping @Sendable () throws -> Value
    ) {
        self.location = location
        self.body = body
    }

    /// Submits the job to a context; `answer` is called once, by the thread that moves the state to
    /// done.
    func send(to context: some ExecutionContext, answer: @escaping Answer) {
        self.answer = answer
        guard move(from: .idle, to: .sent) else {
            // Cancelled before it was sent.
            self.answer = nil
            return answer(.failure(CancellationError()))
        }
        let (work, refused) = CompletionGuard.closures(
            for: SentJob(submission: self, context: context.name))
        context.execute(consume work, refused: consume refused)
    }

    /// Submits the job to a context, and waits for its answer or for the task to be cancelled.
    nonisolated(nonsending) func run(on context: some ExecutionContext) async throws -> Value {
        try await withCancellationHandler {
            // Unsafe only if resumed twice or never; a submission answers exactly once.
            try await unsafe withUnsafeThrowingContinuation { continuation in
                send(to: context) { unsafe continuation.resume(with: $0) }
            }
        } onCancel: {
            SimulationHooks.undivided { cancel() }
        }
    }

    /// Cancels the job if it has not started: true if it never will.
    @discardableResult
    func cancel() -> Bool {
        if move(from: .idle, to: .done) {
            BoundedNesting.free(body.take())
            return true
        }
        return finish(.failure(CancellationError()))
    }

    /// Where it was submitted, as file and line.
    var sourceLocation: String { "\(location.fileID):\(location.line)" }

    fileprivate func run() {
        guard move(from: .sent, to: .done) else { return }
        let answer = self.answer.take()!
        var body = self.body.take()
        let result = Result { try body!() }
        // Freed before the answer, after which the caller may continue (law 10).
        body = nil
        if case .failure(let error) = result { Frame.noteEnd(error) } else { Frame.noteEnd(nil) }
        answer(result)
    }

    fileprivate func finish(_ failure: Result<Value, any Error>) -> Bool {
        guard move(from: .sent, to: .done) else { return false }
        BoundedNesting.free(body.take())
        answer.take()!(failure)
        return true
    }

    fileprivate func refuse(_ refusal: Refusal) {
        var refusal = refusal
        refusal.sourceLocation = sourceLocation
        _ = finish(.failure(refusal))
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

        func run() { submission.run() }

        func refuse(_ refusal: Refusal) { submission.refuse(refusal) }

        func drop() { refuse(Refusal(.abandoned, by: context)) }
    }
}

/// The future state of a job that was submitted to a context.
final class SubmittedState<Value: Sendable, Context: ExecutionContext>: FutureState,
    @unchecked Sendable
{
    // Unchecked: the context is read while the state is locked and pending, and released by the
    // thread that ended it.
    let submission: Submission<Value>
    private var context: Context?

    init(_ submission: Submission<Value>, on context: Context) {
        self.submission = submission
        self.context = context
        super.init(tag: Self.holdsUntilCompletion)
    }

    /// A job that has started runs to its end, and then it has not been cancelled.
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
