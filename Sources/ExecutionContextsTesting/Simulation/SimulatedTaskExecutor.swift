internal import ExecutionContexts

/// Runs the jobs of Swift's tasks on lanes.
final class SimulatedTaskExecutor: TaskExecutor {
    private let stage: Stage
    private let core: SimulatedCore
    /// What the task of a simulation is called that the caller is part of.
    @TaskLocal static var name: String?

    init(_ stage: Stage) {
        self.stage = stage
        core = SimulatedCore("tasks", width: 16, stage)
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        // A stranger is reported, and what it wanted resumed stays where it is: outside of a schedule nothing can go on.
        core.execute { [self] in unsafe job.runSynchronously(on: asUnownedTaskExecutor()) }
    }

    func start(_ name: String, _ body: @escaping @Sendable () async throws -> Void) {
        Unseen.begin()
        let name = stage.names.unique(name)
        stage.tasks.append(name)
        Unseen.end()
        Task(executorPreference: self) { [stage] in
            var failure: (any Error)?
            do { try await Self.$name.withValue(name) { try await body() } } catch { failure = error }
            stage.taskDidEnd(name, failure)
        }
    }
}

extension Stage {
    func taskDidEnd(_ name: String, _ failure: (any Error)?) {
        Unseen.begin()
        defer { Unseen.end() }
        guard callerOrReport(using: "the task '\(name)'") != nil else { return }
        tasks.removeAll { $0 == name }
        if let failure { fail(.threw, "The task '\(name)' threw \(failure).") }
    }
}
