internal import ExecutionContexts

/// A job whose result a task returns.
final class TaskJob<Value: Sendable>: ResultJob<Value>, @unchecked Sendable {
    // Unchecked: as for every job, `body` belongs to the thread that has moved the phase; `task`
    // and `isStopped` are accessed under the queue's lock only.
    private var body: (@Sendable () async throws -> Value)?
    private var task: Task<Void, Never>?
    private var isStopped = false

    init(
        _ body: @escaping @Sendable () async throws -> Value, _ promise: Promise<Value>,
        of core: PrioritizedQueueCore, _ priority: WorkPriority
    ) {
        self.body = body
        super.init(promise, of: core, priority)
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

    /// Escalates the task with its job, where the system can do that. No task is ever lowered.
    override func priorityChanged() {
        guard #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) else { return }
        let (task, priority) = core.locked { (self.task, self.priority) }
        guard let task, priority > .medium else { return }
        task.escalatePriority(to: .high)
    }

    private func start(_ body: @escaping @Sendable () async throws -> Value) -> Task<Void, Never> {
        Task(executorPreference: core.base.taskExecutor) {
            let outcome: Result<Value, any Error>
            do { outcome = .success(try await body()) } catch { outcome = .failure(error) }
            self.end(outcome)
        }
    }

    private func end(_ outcome: Result<Value, any Error>) {
        core.end(self) { promise.complete(outcome) }
    }

    override func drop(_ error: any Error) {
        body = nil
        super.drop(error)
    }

    override func stop() { promise.async.cancel() }

    override func asyncWasCancelled() {
        if core.cancel(self) { return }
        let task = core.locked {
            isStopped = true
            return self.task.take()
        }
        task?.cancel()
    }
}
