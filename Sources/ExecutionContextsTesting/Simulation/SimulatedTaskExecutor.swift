internal import ExecutionContexts

/// Runs the jobs of Swift's tasks on simulated threads.
final class SimulatedTaskExecutor: TaskExecutor {
    private let scheduler: SimulationScheduler
    private let core: SimulatedCore
    /// The name of the simulated task that the caller is part of.
    @TaskLocal static var name: String?

    init(_ scheduler: SimulationScheduler) {
        self.scheduler = scheduler
        core = SimulatedCore("tasks", width: 16, scheduler)
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        // The use by a foreign thread is reported. The job that it resumes stays suspended: outside
        // of a schedule nothing can run.
        core.execute { [self] in unsafe job.runSynchronously(on: asUnownedTaskExecutor()) }
    }

    func start(_ name: String, _ body: @escaping @Sendable () async throws -> Void) {
        HiddenFromSanitizer.begin()
        let name = scheduler.names.unique(name)
        scheduler.tasks.append(name)
        HiddenFromSanitizer.end()
        Task(executorPreference: self) { [scheduler] in
            var failure: (any Error)?
            do { try await Self.$name.withValue(name) { try await body() } } catch {
                failure = error
            }
            scheduler.taskDidEnd(name, failure)
        }
    }
}

extension SimulationScheduler {
    func taskDidEnd(_ name: String, _ failure: (any Error)?) {
        HiddenFromSanitizer.begin()
        defer { HiddenFromSanitizer.end() }
        guard callerOrReport(using: "the task '\(name)'") != nil else { return }
        tasks.removeAll { $0 == name }
        if let failure { fail(.threw, "The task '\(name)' threw \(failure).") }
    }
}
