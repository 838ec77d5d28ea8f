import ExecutionContexts
import ExecutionContextsTesting
import TestSupport
import Testing

/// A task or an actor's job that a task waits for is raised to the priority of the waiting task.
@Suite(.patient)
struct EscalationTests {
    private actor Store {
        private let executor: any SerialExecutor
        nonisolated var unownedExecutor: UnownedSerialExecutor {
            unsafe executor.asUnownedSerialExecutor()
        }
        init(on context: some ActorBackingContext) { executor = context }
    }

    /// Runs a job on a context for a task of this priority, and returns the priority of the job.
    ///
    /// A continuation is used, because a task that awaits another one raises it to its priority.
    private func priority(_ priority: TaskPriority, on context: some ExecutionContext) async throws
        -> TaskPriority
    {
        try await withCheckedThrowingContinuation { continuation in
            Task.detached(priority: priority) {
                do {
                    continuation.resume(returning: try await context.run { Task.currentPriority })
                } catch {
                    continuation.resume(throwing: error)
                }
            }
        }
    }

    @Test(arguments: [TaskPriority.low, .medium, .high])
    func `An actor and a task executor run a job with the priority of its submitter`(
        _ own: TaskPriority
    )
        async throws
    {
        actor DefaultActor {}
        #expect(try await priority(own, on: DefaultActor().context) == own)
        #expect(try await priority(own, on: ExecutorBox().context) == own)
    }

    @Test func `A later job of higher priority raises an actor's waiting job`() async throws {
        let manual = ManualContext()
        let context = Store(on: manual).context
        let seen = Box<[TaskPriority]>([])
        for priority in [TaskPriority.low, .high] {
            await Task.detached(priority: priority) {
                context.execute { seen.withValue { $0.append(Task.currentPriority) } }
            }.value
        }
        while manual.pending.isEmpty { await Task.yield() }
        while seen.value.count < 2 { manual.runReady() }
        #expect(seen.value == [.high, .high])
    }

    @Test(arguments: [true, false])
    func `Raising the task that awaits an actor's waiting job raises the job`(_ awaitsAsync: Bool)
        async throws
    {
        let manual = ManualContext()
        let context = Store(on: manual).context
        let seen = Promise<TaskPriority>()
        // When this returns, the task already waits. A job that began earlier would not be raised.
        let low = startedTask(priority: .low) {
            if awaitsAsync {
                _ = try await context.submit { seen.succeed(Task.currentPriority) }.get()
            } else {
                _ = try await context.run { seen.succeed(Task.currentPriority) }
            }
        }
        while manual.pending.isEmpty { await Task.yield() }
        low.escalatePriority(to: .high)
        while !seen.async.isCompleted { manual.runReady() }
        try await low.value
        #expect(try await seen.async.get() == .high)
    }

    // MARK: - Async functions

    /// Ways to derive one `Async` from another.
    static let ways: [@Sendable (Async<TaskPriority>) -> Async<TaskPriority>] = [
        { $0 },
        { $0.map { $0 } },
        { $0.map(on: .global) { $0 }.flatMap { Async(.success($0)) } },
        { $0.timeout(after: .seconds(1000), on: .global).shielded() },
        { $0.shared() },
        { value in Async(.success(1)).flatMap { _ in value } },
        { $0.zip(Async(.success(1))).map { $0.0 } },
        { Async.all([Async(.success(.low)), $0]).map { $0[1] } },
        { Async.allSettled([Async(.success(.low)), $0]).map { try $0[1].get() } },
        { $0.andThen { _ in } },
        { value in Async.lazy { value } },
    ]

    @Test(arguments: ways.indices, [true, false])
    func
        `Awaiting the future of an async function raises the function's task, as awaiting the task does`(
            _ way: Int, _ isRaisedLater: Bool
        ) async throws
    {
        let gate = Promise<Void>()
        let work = await Task.detached(priority: .background) {
            Async {
                try await gate.async.get()
                return Task.currentPriority
            }
        }.value
        let end = Self.ways[way](work)
        let waiter = startedTask(priority: isRaisedLater ? .low : .high) { try await end.get() }
        while gate.async.waitingTasks == 0 { await Task.yield() }
        if isRaisedLater { waiter.escalatePriority(to: .high) }
        gate.succeed(())
        #expect(try await waiter.value == .high)
    }
}

/// A task executor over the global context.
private final class ExecutorBox: TaskExecutor {
    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        GlobalContext().execute { unsafe job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}
