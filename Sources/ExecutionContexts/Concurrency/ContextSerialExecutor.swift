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
    /// Inside the context's jobs `assumeIsolated` on such an actor works. A serial view whose base
    /// drops its jobs, as the base of `context.valid(while: token).serial()` may, runs the jobs of
    /// its actors on the global context, in their order. Any other context that drops a job of an
    /// actor traps with a message: there is nowhere else to run it.
    public var serialExecutor: any SerialExecutor { ContextSerialExecutor(context: self) }
}

/// Runs the jobs of actors on a serial context.
final class ContextSerialExecutor<Context: ActorBackingContext>: SerialExecutor {
    private let context: Context

    init(context: Context) { self.context = context }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = CompletionGuard(
            RuntimeJob(
                job: UnownedJob(job),
                runJob: { [self] in unsafe $0.runSynchronously(on: asUnownedSerialExecutor()) },
                onDrop: { [context] job in
                    if context.executeWithoutBase({ job.run() }) { return }
                    stopMisuse(
                        "The context '\(context.name)' backs an actor and has refused or dropped a job of it (law 13). "
                            + "Back actors by a context that runs every job it is given.")
                }))
        context.execute(job.work, refused: { _ in job.drop() })
    }

    /// Returns only true or nil: only true is final for the runtime, and `checkIsolated` decides
    /// the rest.
    ///
    /// A false that a nested `sync` made wrong would crash correct code (law 4).
    func isIsolatingCurrentContext() -> Bool? { context.isCurrent == true ? true : nil }

    func checkIsolated() {
        guard context.isCurrent == nil else { return context.preconditionIsCurrent() }
        var isKnown = false
        SystemCheck.run {
            isKnown = context.checkIsCurrent()
        } orElse: {
            stopMisuse(
                "Code of an actor must run on the context '\(context.name)', which backs it, but runs elsewhere "
                    + "(law 13). Await the actor's method, or assume isolation in a job of the context only."
            )
        }
        if !isKnown {
            // To return here would let code of two threads into the actor.
            stopMisuse(
                "Whether this is the context '\(context.name)', which backs an actor, cannot be known (law 4). "
                    + "Give the context `var isCurrent: Bool?` (a property of type Bool does not meet the "
                    + "requirement), or do not assume isolation.")
        }
    }
}
