extension ActorBackingContext {
    /// This context as the executor of an actor: the actor's code runs here (law 13).
    ///
    /// The actor must keep the executor, since the runtime does not:
    ///
    /// ```swift
    /// actor Store {
    ///     private let executor: any SerialExecutor
    ///     nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }
    ///     init(on context: some ActorBackingContext) { executor = context.serialExecutor }
    /// }
    /// ```
    ///
    /// Inside the context's work `assumeIsolated` on such an actor works. A serial view whose base
    /// loses its work, as the base of `context.while(token).serial()` may, runs the jobs of its
    /// actors on the global context, in their turn. Any other context that loses a job of an actor
    /// traps with a message: there is nowhere else to run it.
    public var serialExecutor: any SerialExecutor { ContextSerialExecutor(context: self) }
}

/// Runs the jobs of actors on a serial context.
final class ContextSerialExecutor<Context: ActorBackingContext>: SerialExecutor {
    private let context: Context

    init(context: Context) { self.context = context }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = JobTicket(
            UnownedJob(job),
            run: { [self] in unsafe $0.runSynchronously(on: asUnownedSerialExecutor()) },
            onLoss: { [context] job in
                if context.executeWithoutBase({ job.run() }) { return }
                stopMisuse(
                    "The context '\(context.name)' backs an actor and has refused or lost a job of it (law 13). "
                        + "Back actors by a context that runs whatever it is given.")
            })
        context.execute({ job.run() }, refused: { _ in job.lose() })
    }

    /// Only yes is final for the runtime; where it is not known, `checkIsolated` decides.
    ///
    /// A no that a nested `sync` made wrong would crash correct code (law 4).
    func isIsolatingCurrentContext() -> Bool? { context.isCurrent == true ? true : nil }

    func checkIsolated() {
        if context.isCurrent == nil, !context.checkIsCurrent() {
            // Passing here would let code of two threads into the actor.
            stopMisuse(
                "Whether this is the context '\(context.name)', which backs an actor, cannot be known (law 4). "
                    + "Give the context `var isCurrent: Bool?` (a property of type Bool does not meet the "
                    + "requirement), or do not assume isolation.")
        }
        context.preconditionIsCurrent()
    }
}
