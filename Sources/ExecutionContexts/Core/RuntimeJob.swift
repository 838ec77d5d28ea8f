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
