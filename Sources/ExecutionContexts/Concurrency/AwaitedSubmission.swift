internal import CPlatform
internal import Synchronization

/// A job that a task awaits: its body runs, or it ends with an error (law 1).
///
/// One of these decides how it ends, whichever is first:
///
/// | decided by | the task |
/// |---|---|
/// | the job | goes on when the body has run |
/// | a cancellation of the task | throws `CancellationError` |
/// | the context | throws the refusal, or one that says that the context dropped the job |
///
/// The task submits first, and suspends then. So a job that the context runs at once suspends
/// nothing:
///
/// | step | `submitted` | `suspended` | `ended` |
/// |---|---|---|---|
/// | `suspend` | becomes `suspended` | - | the task goes on at once |
/// | `end` | becomes `ended` | becomes `ended`, and the task is resumed | - |
///
/// The task sees a cancellation while it is suspended. The job that is about to run the body sees
/// any. So no body starts after a cancellation.
///
/// The body waits here, not in the context, so that cancelling frees its captures at once. It keeps
/// its value, so this class and its continuation know no type.
@usableFromInline
@safe final class AwaitedSubmission: @unchecked Sendable {
    // Unchecked, also at run time: `body` and `error` are accessed by the thread that decides, and
    // `error` by the task after the end. The continuation is written before the task is suspended,
    // and read by the thread that ends that.
    private let decision = Decision()
    private let phase = Atomic<Phase>(.submitted)
    private enum Phase: UInt8, AtomicRepresentable { case submitted, suspended, ended }
    /// Runs the body, or only frees it.
    @exclusivity(unchecked) private var body: (@Sendable (_ runs: Bool) -> Void)?
    @exclusivity(unchecked) private var error: (any Error)?
    @exclusivity(unchecked) private var continuation: UnsafeContinuation<Void, Never>?
    /// The address of the task, which is alive until `end`.
    private let task = unsafe ec_task_current()
    /// Raises the priority of the pending jobs of the context, if it can.
    private var raise: (@Sendable (TaskPriority) -> Void)?
    private let location: CodePlace

    @usableFromInline
    init(_ fileID: StaticString, _ line: UInt, _ body: @escaping @Sendable (_ runs: Bool) -> Void) {
        location = CodePlace(fileID, line)
        unsafe self.body = body
    }

    // MARK: For the task

    /// Submits the job to a context: true if it has ended already. Called once.
    @usableFromInline
    func submit(to context: some ExecutionContext) throws -> Bool {
        if Task.isCancelled { throw CancellationError() }
        let (work, refused) = CompletionGuard.closures(
            for: SubmittedJob(job: self, context: context.name))
        context.execute(consume work, refused: consume refused)
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
            SimulationHooks.undivided { fail(CancellationError()) }
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

    // MARK: For the context

    fileprivate func run() {
        guard decision.make() else { return }
        // The task is alive: only this thread can let it go on.
        if unsafe ec_task_is_cancelled(task) { return end(with: CancellationError()) }
        unsafe body.take()?(true)
        end()
    }

    /// Ends the job with an error, unless it has begun.
    private func fail(_ error: any Error) { if decision.make() { end(with: error) } }

    private func end(with error: any Error) {
        unsafe self.error = error
        // What the body has captured may be the last reference to the next such job.
        if let body = unsafe body.take() { BoundedNesting.call([{ body(false) }]) }
        end()
    }

    fileprivate func refuse(_ refusal: Refusal) {
        var refusal = refusal
        refusal.sourceLocation = location.call
        fail(refusal)
    }

    private func end() {
        SimulationHooks.point()
        // Releasing, for the task; acquiring, for the continuation.
        guard phase.exchange(.ended, ordering: .acquiringAndReleasing) == .suspended else { return }
        unsafe continuation.take()?.resume()
    }

    /// The job as the context gets it.
    private struct SubmittedJob: GuardedJob {
        let job: AwaitedSubmission
        let context: String

        var source: JobSource { JobSource(job.location) }

        func run() { job.run() }

        func refuse(_ refusal: Refusal) { job.refuse(refusal) }

        func drop() { refuse(Refusal(.abandoned, by: context)) }
    }
}
