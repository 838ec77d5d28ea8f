import ExecutionContexts

/// Starts a task, and runs it on the calling thread until it suspends or ends.
///
/// When this returns, the task is registered where it waits. So no test has to poll, or to wait
/// until the cooperative pool has a thread for the task.
package func startedTask<Value: Sendable>(
    priority: TaskPriority? = nil, _ body: @escaping @Sendable () async throws -> Value
) -> Task<Value, any Error> {
    let starter = TaskStarter()
    let task = Task.detached(executorPreference: starter, priority: priority, operation: body)
    starter.run()
    return task
}

/// Queues the jobs of a task until `run` has run them; later ones run on a global queue, or
/// in the simulation.
private final class TaskStarter: TaskExecutor {
    private let jobs = Box<[UnownedJob]?>([])

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let isKept = jobs.withValue { jobs -> Bool in
            jobs?.append(job)
            return jobs != nil
        }
        if isKept { return }
        GlobalContext().execute {
            unsafe job.runSynchronously(on: self.asUnownedTaskExecutor())
        }
    }

    func run() {
        while let job = next() { unsafe job.runSynchronously(on: asUnownedTaskExecutor()) }
    }

    private func next() -> UnownedJob? {
        jobs.withValue { jobs in
            if let first = jobs?.first {
                jobs?.removeFirst()
                return first
            }
            jobs = nil
            return nil
        }
    }
}
