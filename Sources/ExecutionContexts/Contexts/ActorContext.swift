/// Runs work on an actor, in order: `actor.context`, or `.on(actor)`.
///
/// The work runs with the actor held, between the actor's own jobs, so a callback given to it may use
/// `assumeIsolated`. The actor stays alive while work is pending (law 10).
///
/// A turn of the actor has the priority of the task that asked for it, and is raised to that of every task that submits
/// more or waits in `run`. Within the context the order is that of submission, whatever the priorities.
public final class ActorContext<Isolation: Actor>: ActorBackingContext {
    /// The actor that the work runs on.
    public let actor: Isolation
    private let turns: ActorTurns<Isolation>
    private let mailbox: any SerialContext

    /// Makes a context that runs its work on an actor.
    public init(_ actor: Isolation) {
        self.actor = actor
        turns = ActorTurns(actor: actor)
        mailbox = SerialView(base: turns, name: "\(Isolation.self)")
    }

    public func execute(_ work: consuming @escaping Work) {
        mailbox.execute(consume work)
        turns.raise(to: Task.currentPriority)
    }

    /// Yes inside this context's work; in other code of the actor it is not known, and the check knows.
    public var isCurrent: Bool? { mailbox.isCurrent == true ? true : nil }

    public func checkIsCurrent() -> Bool {
        actor.preconditionIsolated()
        return true
    }

    public var name: String { "\(Isolation.self)" }
}

extension Actor {
    /// This actor as a context.
    ///
    /// Each call makes a context with a queue of its own: keep one where order matters. It keeps the actor, which its work
    /// needs, so an actor that stores its own context is never freed. Have the owner of the actor store it, or set it to
    /// nil at the end (law 10).
    public nonisolated var context: ActorContext<Self> { ActorContext(self) }
}

extension ExecutionContext {
    /// An actor as a context.
    public static func on<Isolation: Actor>(_ actor: Isolation) -> Self
    where Self == ActorContext<Isolation> {
        ActorContext(actor)
    }
}

extension ActorContext: EscalatingContext {
    func raise(to priority: TaskPriority) { turns.raise(to: priority) }
}

/// A context whose jobs a task runs, so that the priority of what is pending can be raised.
protocol EscalatingContext: ExecutionContext {
    func raise(to priority: TaskPriority)
}

/// Gives each job one turn of an actor; the order of turns is the actor's.
private final class ActorTurns<Isolation: Actor>: ExecutionContext {
    private let actor: Isolation
    private let turn = Guarded(Turn())

    /// The last turn that was asked for, until it has ended.
    private struct Turn {
        var task: Task<Void, Never>?
        var priority = TaskPriority.background
        var number = 0
    }

    init(actor: Isolation) { self.actor = actor }

    func execute(_ work: @escaping Work) {
        Seam.leaves(for: "\(Isolation.self)")
        let priority = Task.currentPriority
        // Under the lock the task is only enqueued: it calls nothing of the user's (law 9).
        turn.withLock { turn in
            turn.number += 1
            turn.priority = priority
            turn.task = Task.detached(priority: priority) { [self, actor, number = turn.number] in
                await Self.run(work, on: actor)
                end(number)
            }
        }
    }

    func raise(to priority: TaskPriority) {
        let task: Task<Void, Never>? = turn.withLock { turn in
            guard turn.task != nil, turn.priority < priority else { return nil }
            turn.priority = priority
            return turn.task
        }
        task?.raise(to: priority)
    }

    private func end(_ number: Int) {
        turn.withLock { turn in if turn.number == number { turn.task = nil } }
    }

    private static func run(_ work: Work, on actor: isolated Isolation) {
        Caller.outsideOfTask(work)
    }
}
