internal import ExecutionContexts

/// The queue of a limiter and its context. Serving jobs and the alarm keep it alive.
///
/// A serving job on the context takes a token and runs the first waiting job. Each submission
/// submits one serving job, so a job that need not wait keeps the position in the context's queue
/// that its submission has. Jobs that had to wait get one further serving job at a time.
final class RateLimiterCore: @unchecked Sendable {
    // Unchecked: `queue` is accessed inside `section` only.
    private let base: any SerialContext
    private let location: AlarmLocation
    private let section: CriticalSection
    private var queue: RateLimiterQueue

    init(on base: some SerialContext, _ bucket: RateLimiterBucket, from location: AlarmLocation) {
        self.base = base
        self.location = location
        section = CriticalSection(name: "rate limiter on \(base.name)")
        queue = RateLimiterQueue(bucket)
    }

    /// Binds the submitter's context values to the job, since another caller's serving job may run
    /// it.
    func bound(_ work: @escaping Work) -> Work {
        // Not `??`: passing a closure through a generic function wraps it in an allocated thunk.
        guard let submissionTransform = base.submissionTransform else { return work }
        return submissionTransform(work)
    }

    var pendingCount: Int { section.execute { queue.count } }

    func submit(_ job: RateLimitedJob) {
        section.execute { queue.append(job) }
        let (work, refused) = servingClosures(for: job)
        base.execute(consume work, refused: consume refused)
    }

    // A function of its own: the closures alone keep the guard (`CompletionGuard.closures`).
    private func servingClosures(
        for job: RateLimitedJob
    ) -> (work: Work, refused: @Sendable (Refusal) -> Void) {
        let completion = CompletionGuard(ServingJob(core: self, job: job))
        if job.isAwaited { return ({ completion.run() }, { completion.refuse($0) }) }
        // The limiter has accepted the job: a full base takes it above its capacity.
        let base = base
        return ({ completion.run() }, { _ in base.enqueue { completion.run() } })
    }

    func cancel(_ job: RateLimitedJob) {
        let now = base.time.now
        let (wasQueued, effect) = section.execute {
            (queue.remove(job), queue.arrange(at: now, in: section))
        }
        if wasQueued { job.drop(CancellationError()) }
        perform(effect)
    }

    /// Runs the first waiting job, if there is a token; on the context.
    private func serve(_ change: (inout RateLimiterQueue) -> Bool) {
        let now = base.time.now
        let (job, isArranged) = section.execute { () -> (RateLimitedJob?, Bool) in
            guard change(&queue) else { return (nil, true) }
            return (queue.begin(at: now), queue.isArranged)
        }
        job?.run()
        // Checked again, since the job took time and may have submitted others.
        if !isArranged { arrange() }
    }

    private func arrange() {
        let now = base.time.now
        perform(section.execute { queue.arrange(at: now, in: section) })
    }

    private func perform(_ effect: RateLimiterQueue.Effect) {
        switch effect {
        case .nothing: break
        case .submitServingJob:
            let completion = CompletionGuard(ServingJob(core: self, job: nil))
            // Never inline: many jobs that may begin would nest.
            base.enqueue { completion.run() }
        case .set(let alarm, let instant): set(alarm, at: instant, on: base)
        case .cancel(let alarm): alarm.cancel()
        }
    }

    private func set(_ alarm: Alarm, at instant: ContextInstant, on base: some SerialContext) {
        alarm.set(
            at: instant, on: base, from: location, fired: { alarm in self.serve { $0.end(alarm) } },
            dropped: { alarm in
                if self.section.execute({ self.queue.end(alarm) }) { self.abandonAll() }
            })
    }

    /// Drops all waiting jobs, since the context dropped what was to begin them.
    private func abandonAll() {
        let jobs = section.execute { queue.takeAll() }
        for job in jobs { job.drop(Refusal(.abandoned, by: base.name)) }
        arrange()
    }

    /// A serving job, which begins the jobs that have a token.
    private struct ServingJob: GuardedJob {
        let core: RateLimiterCore
        /// The job submitted with this serving job; nil if it serves jobs that have waited.
        let job: RateLimitedJob?

        func run() {
            core.serve {
                $0.endServingJob()
                return true
            }
        }

        func refuse(_ refusal: Refusal) {
            guard let job else {
                core.section.execute { core.queue.endServingJob() }
                return core.abandonAll()
            }
            let wasQueued = core.section.execute {
                core.queue.endServingJob()
                return core.queue.remove(job)
            }
            if wasQueued { job.drop(refusal) }
            core.arrange()
        }

        func drop() { refuse(Refusal(.abandoned, by: core.base.name)) }
    }
}
