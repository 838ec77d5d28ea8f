internal import Dispatch

extension DelayedWork {
    /// What the context of a due delay is given to run.
    @usableFromInline
    final func dueWork() -> Work { CompletionGuard.work(for: DueJob(delay: self)) }
}

/// What the context of a due delay holds. If it is dropped, the body must not live on in a handle
/// that the caller keeps (law 10).
private struct DueJob: GuardedJob {
    let delay: DelayedWork

    var source: JobSource {
        let (characters, line) = unsafe delay.scheduledAt
        return JobSource(unsafe CodePlace(characters: characters, line))
    }

    func run() {
        // A context that runs its jobs on the caller, and does not say so in `enqueue`, would delay
        // all other delays. It gets the job once more, from another thread, so the job still runs
        // where the context runs it.
        if SystemTime.isFiring { return DispatchQueue.global().async { [delay] in delay.submit() } }
        delay.run()
    }

    func drop() { delay.drop() }
}
