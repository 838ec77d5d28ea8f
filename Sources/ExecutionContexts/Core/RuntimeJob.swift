// A job of a task or an actor counts as accepted once its task or actor is: it runs, even on a view
// that refuses or drops other jobs.

extension ExecutionContext {
    /// Submits `work` past the views of this context that may refuse or drop it, with the
    /// decoration that they add.
    ///
    /// `inlines` says whether `execute` may run it as a part of the caller's job.
    func executeAccepted(_ work: @escaping Work, inlines: Bool) {
        guard self is any RefusingContext else { return inlines ? enqueue(work) : execute(work) }
        guard let view = facts.view else { return enqueue(work) }
        view.base.executeAccepted(view.decorateAccepted(work), inlines: inlines)
    }

    /// Submits `work` to the innermost serial view, which runs it without its base, with the
    /// decoration added on the way; false if there is no such view.
    func executeWithoutBase(_ work: @escaping Work) -> Bool {
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

/// A job of the Swift runtime, which must run exactly once, whatever the context does with its
/// closure.
struct RuntimeJob: GuardedJob {
    let job: UnownedJob
    let runJob: @Sendable (UnownedJob) -> Void
    /// Receives a new guard of the same job: the dropped one can no longer be retained.
    let onDrop: @Sendable (CompletionGuard<RuntimeJob>) -> Void

    var source: JobSource { JobSource(.taskPart) }

    func run() { runJob(job) }

    func drop() { onDrop(CompletionGuard(self)) }
}
