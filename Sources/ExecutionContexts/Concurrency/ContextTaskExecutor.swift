internal import Dispatch
internal import Synchronization

extension ExecutionContext {
    /// This context as a task executor: nonisolated async code that prefers it runs here (law 13).
    ///
    /// ```swift
    /// Task(executorPreference: context.taskExecutor) { await index.rebuild() }
    /// ```
    ///
    /// A job that the context refuses or loses runs on the system's global executor instead: a job that is
    /// dropped would hang whoever awaits it.
    public var taskExecutor: any TaskExecutor { ContextTaskExecutor(context: self) }
}

extension RefusingContext {
    @available(
        *, unavailable,
        message: "A context that may refuse work cannot run tasks: take the executor of its base (law 13)"
    )
    public var taskExecutor: any TaskExecutor { ContextTaskExecutor(context: self) }

    @available(
        *, unavailable,
        message: "A context that may refuse work cannot run async code: use run on its base (law 13)"
    )
    public func runTask<Value: Sendable>(
        _ body: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        fatalError("Unavailable, so never called.")
    }
}

/// Runs the jobs of tasks on a context.
final class ContextTaskExecutor<Context: ExecutionContext>: TaskExecutor {
    private let context: Context

    init(context: Context) { self.context = context }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = JobTicket(
            UnownedJob(job),
            run: { [self] in unsafe $0.runSynchronously(on: asUnownedTaskExecutor()) },
            onLoss: { job in DispatchQueue.global().async { job.run() } })
        context.execute({ job.run() }, refused: { _ in job.lose() })
    }
}

/// A job of the Swift runtime, which must run exactly once, whatever the context does with its closure.
final class JobTicket: Sendable {
    private let job: UnownedJob
    private let runJob: @Sendable (UnownedJob) -> Void
    private let onLoss: @Sendable (JobTicket) -> Void
    private let isUsed = Atomic<Bool>(false)

    init(
        _ job: UnownedJob, run: @escaping @Sendable (UnownedJob) -> Void,
        onLoss: @escaping @Sendable (JobTicket) -> Void
    ) {
        self.job = job
        runJob = run
        self.onLoss = onLoss
    }

    deinit {
        // A new ticket stands in for this one, which cannot be kept alive any more.
        if use() { onLoss(JobTicket(job, run: runJob, onLoss: onLoss)) }
    }

    func run() { if use() { runJob(job) } }

    func lose() { if use() { onLoss(JobTicket(job, run: runJob, onLoss: onLoss)) } }

    // Acquiring and releasing: the job sees what its enqueuer wrote, whatever the context does.
    private func use() -> Bool { !isUsed.exchange(true, ordering: .acquiringAndReleasing) }
}
