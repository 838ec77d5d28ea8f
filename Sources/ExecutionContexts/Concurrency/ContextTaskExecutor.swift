internal import Dispatch

extension ExecutionContext {
    /// This context as a task executor: nonisolated async code that prefers it runs here (law 13).
    ///
    /// ```swift
    /// Task(executorPreference: context.taskExecutor) { await index.rebuild() }
    /// ```
    ///
    /// A task cannot be refused halfway. So the executor of a view that may refuse or drop jobs,
    /// such as `bounded` or `valid(while: token)`, is that of its base: jobs of tasks are neither
    /// counted nor skipped. `runTask` and `submitTask` ask the view whether the task may start. A
    /// job that the context drops would hang its task. It runs on the system's global executor
    /// instead, or in its order in the innermost serial view.
    public var taskExecutor: any TaskExecutor { taskExecutor(mayRefuse: mayRefuse) }

    /// The same, for a caller that knows whether this context may refuse: a cast costs as much as a
    /// job.
    @usableFromInline
    func taskExecutor(mayRefuse: Bool) -> any TaskExecutor {
        ContextTaskExecutor(context: self, mayRefuse: mayRefuse)
    }
}

/// Runs the jobs of tasks on a context.
final class ContextTaskExecutor<Context: ExecutionContext>: TaskExecutor {
    private let context: Context
    private let mayRefuse: Bool

    init(context: Context, mayRefuse: Bool) {
        self.context = context
        self.mayRefuse = mayRefuse
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = CompletionGuard(
            RuntimeJob(
                job: UnownedJob(job),
                runJob: { [self] in unsafe $0.runSynchronously(on: asUnownedTaskExecutor()) },
                onDrop: { [context] job in
                    if context.executeWithoutBase({ job.run() }) { return }
                    DispatchQueue.global().async { job.run() }
                }))
        if mayRefuse {
            context.executeAccepted(job.work)
        } else {
            context.execute(job.work, refused: { _ in job.drop() })
        }
    }
}

/// A job of the Swift runtime, which must run exactly once, whatever the context does with its
/// closure.
struct RuntimeJob: GuardedJob {
    let job: UnownedJob
    let runJob: @Sendable (UnownedJob) -> Void
    /// Receives a new guard of the same job: the dropped one can no longer be retained.
    let onDrop: @Sendable (CompletionGuard<RuntimeJob>) -> Void

    var source: JobSource { JobSource(.taskPart) }

    func run() { runJob(job) }

    func drop() { onDrop(CompletionGuard(self)) }
}
