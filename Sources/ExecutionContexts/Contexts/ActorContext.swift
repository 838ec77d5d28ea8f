/// Runs work on an actor, in order: `actor.context`.
///
/// The work is isolated to the actor and runs between the actor's own jobs, so a callback on this
/// context may use `assumeIsolated`. The actor stays alive while work is pending (law 10).
///
/// A job of the actor has the priority of the task that submitted it. A task that submits more work
/// or waits in `run` raises it to its own priority. Within the context the order is that of
/// submission, whatever the priorities.
public final class ActorContext<Isolation: Actor>: ActorBackingContext {
    /// The actor that the work runs on.
    public let actor: Isolation
    private let jobs: ActorJobs<Isolation>
    private let mailbox: any SerialContext

    /// Makes a context that runs its work on an actor.
    public init(_ actor: Isolation) {
        self.actor = actor
        jobs = ActorJobs(actor: actor)
        mailbox = SerialView(base: jobs, name: "\(Isolation.self)")
    }

    public func execute(_ work: consuming @escaping Work) {
        mailbox.execute(consume work)
        jobs.raise(to: Task.currentPriority)
    }

    /// Yes inside this context's work; in other code of the actor only `checkIsCurrent` knows.
    public var isCurrent: Bool? { mailbox.isCurrent == true ? true : nil }

    public func checkIsCurrent() -> Bool {
        actor.preconditionIsolated()
        return true
    }

    public var name: String { "\(Isolation.self)" }

    public var facts: ContextFacts {
        var facts = ContextFacts()
        // Its jobs are isolated to the actor, and another thread's code is not.
        facts.meansThread = true
        facts.raise = { [jobs] in jobs.raise(to: $0) }
        return facts
    }
}

extension Actor {
    /// This actor as a context.
    ///
    /// Each call makes a context with its own queue: keep one where order matters. The context
    /// keeps the actor, which its work needs. So an actor that stores its own context is never
    /// freed. Let the owner of the actor store the context, or set it to nil at the end (law 10).
    public nonisolated var context: ActorContext<Self> { ActorContext(self) }
}

/// Runs each job as one job of an actor, in an order that the actor decides.
private final class ActorJobs<Isolation: Actor>: ExecutionContext {
    private let actor: Isolation
    private let lastJob = Guarded(LastJob())

    /// The last submitted job, until it has ended.
    private struct LastJob {
        var task: Task<Void, Never>?
        var priority = TaskPriority.background
        var number = 0
    }

    init(actor: Isolation) { self.actor = actor }

    func execute(_ work: @escaping Work) {
        SimulationHooks.willSubmitOutside(to: "\(Isolation.self)")
        let priority = Task.currentPriority
        // Making the task only enqueues it: no code of the user's runs under the lock (law 9).
        lastJob.withLock { lastJob in
            lastJob.number += 1
            lastJob.priority = priority
            lastJob.task = Task.detached(priority: priority) {
                [self, actor, number = lastJob.number] in
                await Self.run(work, on: actor)
                end(number)
            }
        }
    }

    func raise(to priority: TaskPriority) {
        let task: Task<Void, Never>? = lastJob.withLock { lastJob in
            guard lastJob.task != nil, lastJob.priority < priority else { return nil }
            lastJob.priority = priority
            return lastJob.task
        }
        task?.raise(to: priority)
    }

    private func end(_ number: Int) {
        lastJob.withLock { lastJob in if lastJob.number == number { lastJob.task = nil } }
    }

    private static func run(_ work: Work, on actor: isolated Isolation) {
        Caller.outsideOfTask(work)
    }
}

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
