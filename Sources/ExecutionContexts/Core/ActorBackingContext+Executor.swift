// An actor-backing context is a serial executor: it runs the jobs of actors in its own order.
extension ActorBackingContext {
    public func enqueue(_ job: consuming ExecutorJob) { submit(UnownedJob(job), of: self) }

    /// Submits a job of an actor whose executor is `executor`: this context, or one that runs its
    /// jobs here.
    ///
    /// `inlines` says whether `execute` may run it inside the job that submits it, which may be one
    /// of the same actor.
    func submit(_ job: UnownedJob, of executor: some SerialExecutor, inlines: Bool = false) {
        let job = CompletionGuard(
            RuntimeJob(
                job: job,
                runJob: { [executor] in
                    unsafe $0.runSynchronously(on: executor.asUnownedSerialExecutor())
                },
                onDrop: { [self] job in
                    if executeWithoutBase({ job.run() }) { return }
                    stopMisuse(
                        "The context '\(name)' backs an actor and has refused or dropped a job of it (law 13). "
                            + "Back actors by a context that runs every job it is given.")
                }))
        inlines ? enqueue(job.work) : execute(job.work, refused: { _ in job.drop() })
    }

    /// Returns only true or nil: only true is final for the runtime, and `checkIsolated` decides
    /// the rest.
    ///
    /// A false that a nested `sync` made wrong would crash correct code (law 4).
    public func isIsolatingCurrentContext() -> Bool? { isCurrent == true ? true : nil }

    public func checkIsolated() {
        guard isCurrent == nil else { return preconditionIsCurrent() }
        var isKnown = false
        SystemCheck.run {
            isKnown = checkIsCurrent()
        } orElse: {
            stopMisuse(
                "Code of an actor must run on the context '\(name)', which backs it, but runs elsewhere "
                    + "(law 13). Await the actor's method, or assume isolation in a job of the context only."
            )
        }
        if !isKnown {
            // To return here would let code of two threads into the actor.
            stopMisuse(
                "Whether this is the context '\(name)', which backs an actor, cannot be known (law 4). "
                    + "Give the context `var isCurrent: Bool?` (a property of type Bool does not meet the "
                    + "requirement), or do not assume isolation.")
        }
    }
}

extension ContextDecorator where Self: ActorBackingContext {
    public func enqueue(_ job: consuming ExecutorJob) {
        submit(UnownedJob(job), of: self, inlines: facts.mayInline)
    }
}
