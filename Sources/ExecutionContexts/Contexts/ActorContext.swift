/// Runs work on an actor, in order: `actor.context`, or `.on(actor)`.
///
/// The work runs with the actor held, between the actor's own jobs, so a callback given to it may use
/// `assumeIsolated`. The actor stays alive while work is pending (law 10).
public final class ActorContext<Isolation: Actor>: SerialContext {
    /// The actor that the work runs on.
    public let actor: Isolation
    private let mailbox: any SerialContext

    /// Makes a context that runs its work on an actor.
    public init(_ actor: Isolation) {
        self.actor = actor
        mailbox = SerialView(base: ActorTurns(actor: actor), name: "\(Isolation.self)")
    }

    public func execute(_ work: @escaping Work) { mailbox.execute(work) }

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
    /// Each call makes a context with a line of its own: keep one where order matters.
    public nonisolated var context: ActorContext<Self> { ActorContext(self) }
}

extension ExecutionContext {
    /// An actor as a context.
    public static func on<Isolation: Actor>(_ actor: Isolation) -> Self
    where Self == ActorContext<Isolation> {
        ActorContext(actor)
    }
}

/// Gives each piece of work one turn of an actor; the order of turns is the actor's.
private struct ActorTurns<Isolation: Actor>: ExecutionContext {
    let actor: Isolation

    func execute(_ work: @escaping Work) {
        Seam.leaves(for: "\(Isolation.self)")
        Task.detached { [actor] in await Self.run(work, on: actor) }
    }

    private static func run(_ work: Work, on actor: isolated Isolation) { work() }
}
