internal import Synchronization

/// What may become of a job that a context has been given. Exactly one of the three happens.
package protocol GuardedJob: Sendable {
    /// Runs the job; called on the context.
    mutating func run()
    /// The context has refused the job.
    mutating func refuse(_ refusal: Refusal)
    /// The context has dropped the job: it released the closure without a run (law 1).
    mutating func drop()
    /// Where the job comes from, for observers of its context; the default is unknown.
    var source: JobSource { get }
    /// Whether a simulation may switch threads before it is decided what becomes of the job.
    static var hasSchedulingPoint: Bool { get }
}

extension GuardedJob {
    package mutating func refuse(_ refusal: Refusal) { drop() }

    package var source: JobSource { .unknown }

    package static var hasSchedulingPoint: Bool { false }
}

/// What a context holds for a job: it runs the job once, or reports that the job was dropped.
///
/// A user's context may run a closure twice, or free it without a run. Only the first of `run`,
/// `refuse`, `drop` and the last release has an effect, so that no caller waits for ever (law 1).
package final class CompletionGuard<Job: GuardedJob>: SourcedJob, @unchecked Sendable {
    // Unchecked, also at run time: only the one thread that uses the guard accesses the job.
    @exclusivity(unchecked) private var job: Job
    private let isUsed = Atomic<Bool>(false)

    package init(_ job: Job) {
        unsafe self.job = job
        super.init()
    }

    // Relaxed, and no scheduling point: the last release comes after all calls, and no other thread
    // can call.
    deinit { if !isUsed.load(ordering: .relaxed) { unsafe job.drop() } }

    /// The closures that a context is given for a job: they alone keep its guard.
    ///
    /// A submitter that kept it, too, could be the last to release it. Then the captures of a
    /// dropped job would be freed on the submitter's thread, beside other jobs (law 10).
    package static func closures(
        for job: consuming Job
    ) -> (work: Work, refused: @Sendable (Refusal) -> Void) {
        let guarded = CompletionGuard(job)
        return (guarded.work, { guarded.refuse($0) })
    }

    /// The first of the closures, for a context that does not refuse the job.
    package static func work(for job: consuming Job) -> Work {
        SourcedJob.work(CompletionGuard(job))
    }

    package var work: Work { SourcedJob.work(self) }

    override package var source: JobSource { unsafe job.source }

    override package func run() { if use() { unsafe job.run() } }

    package func refuse(_ refusal: Refusal) { if use() { unsafe job.refuse(refusal) } }

    package func drop() { if use() { unsafe job.drop() } }

    // Acquiring and releasing, for a context that orders nothing. The context, and the job's own
    // lock where it has one, publish what the job reads.
    private func use() -> Bool {
        if Job.hasSchedulingPoint { SimulationHooks.point() }
        return !isUsed.exchange(true, ordering: .acquiringAndReleasing)
    }
}
