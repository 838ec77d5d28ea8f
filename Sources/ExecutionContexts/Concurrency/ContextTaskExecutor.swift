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
    private let mayInline: Bool

    init(context: Context, mayRefuse: Bool) {
        self.context = context
        self.mayRefuse = mayRefuse
        mayInline = context.facts.mayInline
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
            context.executeAccepted(job.work, inlines: mayInline)
        } else if mayInline {
            context.enqueue(job.work)
        } else {
            context.execute(job.work, refused: { _ in job.drop() })
        }
    }
}
