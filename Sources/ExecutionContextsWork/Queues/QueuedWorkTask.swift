internal import ExecutionContexts

/// A job whose result a task returns.
final class TaskJob: ResultJob, @unchecked Sendable {
    // Unchecked: as for every job, `body` belongs to the thread that has moved the phase; `task`
    // and `isStopped` are accessed under the queue's lock only.
    private var body: (@Sendable () async -> QueuedOutcome)?
    private var task: Task<Void, Never>?
    private var isStopped = false

    init(
        _ body: @escaping @Sendable () async -> QueuedOutcome, at place: CodePlace,
        of core: PrioritizedQueueCore, _ priority: WorkPriority
    ) {
        self.body = body
        super.init(at: place, of: core, priority)
        // The hand-over to the task, and the task.
        parts = 2
    }

    override func perform() {
        let task = start(body.take()!)
        let isUnwanted = core.locked {
            if !isStopped { self.task = task }
            return isStopped
        }
        if isUnwanted { task.cancel() }
        priorityChanged()
    }

    /// Escalates the task with its job, where the system supports it. No task is ever lowered.
    override func priorityChanged() {
        guard #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) else { return }
        let (task, priority) = core.locked { (self.task, self.priority) }
        guard let task, priority > .medium else { return }
        task.escalatePriority(to: .high)
    }

    private func start(_ body: @escaping @Sendable () async -> QueuedOutcome) -> Task<Void, Never> {
        Task(executorPreference: core.base.taskExecutor) {
            self.end(with: await body())
        }
    }

    override func drop(_ error: any Error) {
        // The captures may cancel the next job, and so on.
        Freeing.free(body.take())
        super.drop(error)
    }

    override func stop<Value: Sendable>(_ type: Value.Type) { result(of: type).async.cancel() }

    override func asyncWasCancelled() {
        if core.cancel(self) { return }
        let task = core.locked {
            isStopped = true
            return self.task.take()
        }
        task?.cancel()
    }
}
