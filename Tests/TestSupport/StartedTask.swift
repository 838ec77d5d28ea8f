import Dispatch

/// Starts a task, and runs it on the calling thread until it waits for something or has ended.
///
/// So what the task waits for knows of it when this returns: no test has to look again and again, nor to wait until the few
/// threads that run tasks have time for this one.
package func startedTask<Value: Sendable>(
    priority: TaskPriority? = nil, _ body: @escaping @Sendable () async throws -> Value
) -> Task<Value, any Error> {
    let starter = TaskStarter()
    let task = Task.detached(executorPreference: starter, priority: priority, operation: body)
    starter.run()
    return task
}

/// Keeps the jobs of a task until they have been run here; later ones run on a global queue.
private final class TaskStarter: TaskExecutor {
    private let jobs = Box<[UnownedJob]?>([])

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let isKept = jobs.withValue { jobs -> Bool in
            jobs?.append(job)
            return jobs != nil
        }
        if isKept { return }
        DispatchQueue.global().async { unsafe job.runSynchronously(on: self.asUnownedTaskExecutor()) }
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
