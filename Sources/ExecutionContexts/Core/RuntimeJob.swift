internal import CPlatform
internal import Dispatch

/// A job of a task or an actor. It must run exactly once, whatever the context does with its
/// closure: it counts as accepted once its task or actor is, also on a view that refuses or drops
/// other jobs.
private struct RuntimeJob: GuardedJob {
    let job: UnownedJob
    let runJob: @Sendable (UnownedJob) -> Void
    /// Receives a new guard of the same job: the dropped one can no longer be retained.
    let onDrop: @Sendable (CompletionGuard<RuntimeJob>) -> Void

    var source: JobSource { JobSource(.taskPart) }

    func run() { runJob(job) }

    func drop() { onDrop(CompletionGuard(self)) }
}

extension ExecutionContext {
    /// This context as a task executor: nonisolated async code that prefers it runs here (law 13).
    ///
    /// ```swift
    /// Task(executorPreference: context.taskExecutor) { await index.rebuild() }
    /// ```
    ///
    /// A task cannot be refused halfway. So the executor of a view that may refuse or drop jobs,
    /// such as `bounded` or `valid(while: token)`, is that of its base: jobs of tasks are neither
    /// counted nor skipped. `runTask` and `submitTask` query the view before the task starts. A job
    /// that the context drops would hang its task. It runs on the system's global executor instead,
    /// or in its order in the innermost serial view.
    public var taskExecutor: any TaskExecutor { taskExecutor(mayRefuse: mayRefuse) }

    /// The same, for a caller that knows whether this context may refuse: a cast costs as much as a
    /// job.
    @usableFromInline
    func taskExecutor(mayRefuse: Bool) -> any TaskExecutor {
        ContextTaskExecutor(context: self, mayRefuse: mayRefuse)
    }

    /// Whether this context may refuse a job. It cannot refuse a job of a task, so `runTask` and
    /// `submitTask` first submit an empty job.
    @usableFromInline
    var mayRefuse: Bool { self is any RefusingContext }

    /// Submits `work` past the views of this context that may refuse or drop it, with the
    /// decoration that they add. `inlines`: `execute` may run it as a part of the caller's job.
    fileprivate func executeAccepted(_ work: @escaping Work, inlines: Bool) {
        guard self is any RefusingContext else { return inlines ? enqueue(work) : execute(work) }
        guard let view = facts.view else { return enqueue(work) }
        view.base.executeAccepted(view.decorateAccepted(work), inlines: inlines)
    }

    /// Submits `work` to the innermost serial view, which runs it without its base, with the
    /// decoration added on the way; false if there is no such view.
    fileprivate func executeWithoutBase(_ work: @escaping Work) -> Bool {
        let facts = facts
        if let run = facts.runWithoutBase {
            run(work)
            return true
        }
        guard let view = facts.view else { return false }
        return view.base.executeWithoutBase(view.decorateAccepted(work))
    }
}

extension ViewFacts {
    fileprivate func decorateAccepted(_ work: @escaping Work) -> Work {
        guard skipsNow == nil, let decorate else { return work }
        return decorate(work)
    }
}

/// Runs `body`, during which an executor lives that the runtime does not keep: the job that it
/// enqueues may run, and free the last user of the executor, before `enqueue` returns.
func keeping(_ executor: some Executor, _ body: () -> Void) {
    // The caller's job keeps it alive until here, and the retain from here on. The compiler would
    // remove a retain of its own, since it assumes that `self` lives.
    let object = unsafe Unmanaged.passUnretained(executor).toOpaque()
    unsafe ec_retain(object)
    body()
    unsafe ec_release(object)
}

extension ActorBackingContext {
    public func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        keeping(self) { submit(job, of: self) }
    }

    /// Submits a job of an actor whose executor is `executor`: this context, or one that runs its
    /// jobs here. `inlines`: `execute` may run it inside another job, maybe of the same actor.
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

    /// Returns only true or nil: `checkIsolated` decides the rest. A false that is wrong inside a
    /// nested `sync` would crash correct code (law 4).
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
        let job = UnownedJob(job)
        keeping(self) { submit(job, of: self, inlines: facts.mayInline) }
    }
}

/// Runs the jobs of tasks on a context.
private final class ContextTaskExecutor<Context: ExecutionContext>: TaskExecutor {
    private let context: Context
    private let mayRefuse: Bool
    private let mayInline: Bool

    init(context: Context, mayRefuse: Bool) {
        self.context = context
        self.mayRefuse = mayRefuse
        mayInline = context.facts.mayInline
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        keeping(self) { submit(job) }
    }

    private func submit(_ job: UnownedJob) {
        let job = CompletionGuard(
            RuntimeJob(
                job: job,
                runJob: { [self] in unsafe $0.runSynchronously(on: asUnownedTaskExecutor()) },
                onDrop: { [context] job in
                    if context.executeWithoutBase({ job.run() }) { return }
                    DispatchQueue.global().async { job.run() }
                }))
        if mayRefuse {
            context.executeAccepted(job.work, inlines: mayInline)
        } else if mayInline {
            context.enqueue(job.work)
        } else {
            context.execute(job.work, refused: { _ in job.drop() })
        }
    }
}
