/// Runs work as tasks on a task executor: the reverse of `taskExecutor`.
///
/// Each job is a task of its own, in no guaranteed order; the view `serial(named:)` has one. The
/// task has the priority of its submitter, and keeps it.
public struct TaskExecutorContext<Executor: TaskExecutor>: ExecutionContext {
    /// The executor that the work runs on.
    public let executor: Executor

    /// Makes a context that runs its work on a task executor.
    public init(_ executor: Executor) { self.executor = executor }

    public func execute(_ work: consuming @escaping Work) {
        SimulationHooks.willSubmitOutside(to: name)
        let work = MovedWork(consume work)
        // The closure never suspends, so the executor runs it as one job.
        Task.detached(executorPreference: executor, priority: Task.currentPriority) { work.run() }
    }

    public var name: String { "\(Executor.self)" }
}

extension TaskExecutor {
    /// This task executor as a context.
    public var context: TaskExecutorContext<Self> { TaskExecutorContext(self) }
}
