internal import CPlatform
internal import Synchronization

/// A job that owes exactly one answer (law 1). Whichever of these is first decides it:
///
/// | decided by | the answer |
/// | --- | --- |
/// | the job | the body's value or error |
/// | a cancellation | `CancellationError` |
/// | the context | the refusal, or one that says that the context dropped the job |
///
/// The body waits here, so that cancelling frees its captures at once; the context gets a
/// completion guard only. No type of a value is known here: a generic type is looked up at every
/// use.
protocol Submission: AnyObject, Sendable {
    var location: CodePlace { get }
    /// Runs the body, unless the answer is decided.
    func run()
    /// Ends the job with an error, unless it has begun; true if this call did it.
    @discardableResult
    func finish(_ error: any Error) -> Bool
}

extension Submission {
    /// Submits the job to a context. Called once.
    fileprivate func send(to context: some ExecutionContext) {
        let (work, refused) = CompletionGuard.closures(
            for: SubmittedJob(job: self, context: context.name))
        context.execute(consume work, refused: consume refused)
    }
}

/// The job as the context gets it.
private struct SubmittedJob: GuardedJob {
    /// Taken out when it ends: it may keep the value, and the context may free its closure much
    /// later (law 10).
    var job: (any Submission)?
    let context: String

    var source: JobSource { job.map { JobSource($0.location) } ?? .unknown }

    mutating func run() { job.take()?.run() }

    mutating func refuse(_ refusal: Refusal) {
        guard let job = job.take() else { return }
        var refusal = refusal
        refusal.sourceLocation = job.location.call
        job.finish(refusal)
    }

    mutating func drop() { refuse(Refusal(.abandoned, by: context)) }
}

/// The future state of a job that was submitted to a context.
@usableFromInline
final class SubmittedState: FutureState, Submission, @unchecked Sendable {
    // Unchecked: `job` is written before any other thread knows of this object, and taken by the
    // thread that decides the answer. The context is read while the state is locked and pending,
    // and released by the thread that ended it.
    private let decision = Decision()
    private var job: Work?
    private var context: (any ExecutionContext)?
    let location: CodePlace

    @usableFromInline
    init(fileID: StaticString, line: UInt) {
        location = CodePlace(fileID, line)
        super.init(tag: Self.holdsUntilCompletion)
    }

    /// Submits a job that completes this state.
    @usableFromInline
    func send(to context: some ExecutionContext, _ job: @escaping Work) {
        (self.context, self.job) = (context, job)
        send(to: context)
    }

    func run() { if decision.make() { job.take()?() } }

    func finish(_ error: any Error) -> Bool {
        guard decision.make() else { return false }
        Freeing.free(job.take())
        complete(throwing: error)
        return true
    }

    /// A job that has started runs to its end, and then it has not been cancelled.
    @usableFromInline
    override func cancel() -> Bool { finish(CancellationError()) }

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
        return "submitted\(destination) at \(location.call)"
    }
}

/// A job that a task awaits. The task submits first, and suspends then. So a job that the context
/// runs at once suspends nothing:
///
/// | step | `submitted` | `suspended` | `ended` |
/// |---|---|---|---|
/// | `suspend` | becomes `suspended` | - | the task continues at once |
/// | `end` | becomes `ended` | becomes `ended`, and the task is resumed | - |
///
/// The task sees a cancellation while it is suspended. The job that is about to run the body sees
/// any. So no body starts after a cancellation.
@usableFromInline
@safe final class AwaitedSubmission: Submission, @unchecked Sendable {
    // Unchecked, also at run time: `body` and `error` are accessed by the thread that decides, and
    // `error` by the task after the end. The continuation is written before the task is suspended,
    // and read by the thread that ends that.
    private let decision = Decision()
    private let phase = Atomic<Phase>(.submitted)
    private enum Phase: UInt8, AtomicRepresentable { case submitted, suspended, ended }
    /// Runs the body and keeps its value, or only frees it.
    @exclusivity(unchecked) private var body: (@Sendable (_ runs: Bool) -> Void)?
    @exclusivity(unchecked) private var error: (any Error)?
    @exclusivity(unchecked) private var continuation: UnsafeContinuation<Void, Never>?
    /// The address of the task, which is alive until `end`.
    private let task = unsafe ec_task_current()
    /// Raises the priority of the pending jobs of the context, if it can.
    private var raise: (@Sendable (TaskPriority) -> Void)?
    let location: CodePlace

    @usableFromInline
    init(_ fileID: StaticString, _ line: UInt, _ body: @escaping @Sendable (_ runs: Bool) -> Void) {
        location = CodePlace(fileID, line)
        unsafe self.body = body
    }

    /// Submits the job to a context: true if it has ended already. Called once.
    @usableFromInline
    func submit(to context: some ExecutionContext) throws -> Bool {
        if Task.isCancelled { throw CancellationError() }
        send(to: context)
        SimulationHooks.point()
        guard hasEnded else {
            // Not before: a job that ran at once needs none of it.
            raise = context.facts.raise
            return false
        }
        if let error = unsafe error { throw error }
        return true
    }

    /// Suspends the calling task until the job has ended.
    @usableFromInline
    nonisolated(nonsending) func wait() async throws {
        // Only a task can be raised; a closure in the queue of a context stays where it is.
        guard let raise else { return try await waitAsIs() }
        try await withEscalationHandler({ raise($0) }) { try await waitAsIs() }
    }

    private nonisolated(nonsending) func waitAsIs() async throws {
        await withCancellationHandler {
            // Unsafe only if resumed twice or never: the job ends once.
            await unsafe withUnsafeContinuation { unsafe suspend($0) }
        } onCancel: {
            SimulationHooks.undivided { _ = finish(CancellationError()) }
        }
        // This acquires what the job has done: the continuation alone orders nothing that the
        // thread sanitizer sees.
        if hasEnded, let error = unsafe error { throw error }
    }

    private func suspend(_ continuation: UnsafeContinuation<Void, Never>) {
        unsafe self.continuation = continuation
        SimulationHooks.point()
        // Releasing, for the thread that ends the job; acquiring, if it has ended.
        let (isSuspended, _) = phase.compareExchange(
            expected: .submitted, desired: .suspended, ordering: .acquiringAndReleasing)
        if !isSuspended { unsafe continuation.resume() }
    }

    // Acquiring: the task sees what the job has done.
    private var hasEnded: Bool {
        SimulationHooks.look()
        return phase.load(ordering: .acquiring) == .ended
    }

    func run() {
        guard decision.make() else { return }
        // The task is alive: only this thread can resume it.
        if unsafe ec_task_is_cancelled(task) { return end(with: CancellationError()) }
        unsafe body.take()?(true)
        end()
    }

    func finish(_ error: any Error) -> Bool {
        guard decision.make() else { return false }
        end(with: error)
        return true
    }

    private func end(with error: any Error) {
        unsafe self.error = error
        // What the body has captured may be the last reference to the next such job.
        if let body = unsafe body.take() { BoundedNesting.call([{ body(false) }]) }
        end()
    }

    private func end() {
        SimulationHooks.point()
        // Releasing, for the task; acquiring, for the continuation.
        guard phase.exchange(.ended, ordering: .acquiringAndReleasing) == .suspended else { return }
        unsafe continuation.take()?.resume()
    }
}

/// Runs a body, and reports to observers of the job how it ended.
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
