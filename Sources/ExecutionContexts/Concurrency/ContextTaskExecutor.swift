internal import Dispatch
internal import Synchronization

extension ExecutionContext {
    /// This context as a task executor: nonisolated async code that prefers it runs here (law 13).
    ///
    /// ```swift
    /// Task(executorPreference: context.taskExecutor) { await index.rebuild() }
    /// ```
    ///
    /// A task cannot be refused halfway. So the executor of a view that may refuse or drop work,
    /// such as `bounded` or `while(token)`, is that of its base: jobs of tasks are neither counted
    /// nor skipped. `runTask` and `submitTask` ask the view whether the task may start. A job that
    /// the context loses runs on the system's global executor, or in its turn in the innermost
    /// serial view: a job that is dropped would hang the task.
    public var taskExecutor: any TaskExecutor { ContextTaskExecutor(context: self) }
}

/// Runs the jobs of tasks on a context.
final class ContextTaskExecutor<Context: ExecutionContext>: TaskExecutor {
    private let context: Context
    /// Asked once: a cast costs as much as a job.
    private let mayRefuse: Bool

    init(context: Context) {
        self.context = context
        mayRefuse = context is any RefusingContext
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = JobTicket(
            UnownedJob(job),
            run: { [self] in unsafe $0.runSynchronously(on: asUnownedTaskExecutor()) },
            onLoss: { [context] job in
                if context.executeWithoutBase({ job.run() }) { return }
                DispatchQueue.global().async { job.run() }
            })
        if mayRefuse {
            context.executeAccepted { job.run() }
        } else {
            context.execute({ job.run() }, refused: { _ in job.lose() })
        }
    }
}

/// A job of the Swift runtime, which must run exactly once, whatever the context does with its
/// closure.
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
