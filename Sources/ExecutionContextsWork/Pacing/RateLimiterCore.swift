internal import ExecutionContexts

/// The queue of a limiter and its context. Serving jobs and the alarm keep it alive.
///
/// A serving job on the context takes a token and runs the first waiting job. Each submission
/// submits one serving job, so a job that need not wait keeps the position in the context's queue
/// that its submission has. Jobs that had to wait get one further serving job at a time.
final class RateLimiterCore: @unchecked Sendable {
    // Unchecked, also at run time: `queue` is accessed inside `section` only.
    private let base: any SerialContext
    /// The context that runs the jobs, if that is not the base itself.
    private let target: (any ExecutionContext)?
    private let place: CodePlace
    private let section: CriticalSection
    @exclusivity(unchecked) private var queue: RateLimiterQueue
    private let submissionTransform: (@Sendable (_ work: @escaping Work) -> Work)?
    /// The context's time, outside of a simulation.
    private let time: any TimeSource

    init(
        on base: some SerialContext, target: (any ExecutionContext)? = nil,
        _ bucket: RateLimiterBucket, from place: CodePlace
    ) {
        self.base = base
        self.target = target
        self.place = place
        section = CriticalSection(name: "rate limiter on \(base.name)")
        submissionTransform = base.submissionTransform
        time = base.time
        unsafe queue = RateLimiterQueue(bucket)
    }

    /// Binds the submitter's context values to the job, since another caller's serving job may run
    /// it.
    func bound(_ work: consuming @escaping Work) -> Work {
        // Not `??`: passing a closure through a generic function wraps it in an allocated thunk.
        guard let submissionTransform else { return work }
        return submissionTransform(work)
    }

    /// A simulation has its own time, whatever time the limiter was created with.
    private var now: ContextInstant { SimulationHooks.isAnywhere ? base.time.now : time.now }

    @inline(__always)
    private func withQueue<Result>(_ body: (inout RateLimiterQueue) -> Result) -> Result {
        section.execute { unsafe body(&queue) }
    }

    var pendingCount: Int { withQueue { $0.count } }

    var name: String { "rate limiter on \(base.name)" }

    /// Moves a job into the queue, and returns its number.
    @discardableResult
    func submit(_ job: consuming RateLimitedJob) -> Int {
        var job = job
        let isAwaited = job.isAwaited
        let number = withQueue { $0.append(&job) }
        let (work, refused) = CompletionGuard.closures(
            for: ServingJob(core: self, number: number, isAwaited: isAwaited))
        base.execute(consume work, refused: consume refused)
        return number
    }

    func cancel(_ number: Int) {
        let now = now
        var (job, effect) = withQueue {
            ($0.remove(number), $0.arrange(at: now, in: section))
        }
        job?.drop(CancellationError())
        perform(effect)
    }

    /// Runs the first waiting job, if there is a token; on the context.
    private func serve(_ change: (inout RateLimiterQueue) -> Bool) {
        let now = now
        var job: RateLimitedJob?
        let isArranged = withQueue { queue in
            guard change(&queue) else { return true }
            job = queue.begin(at: now)
            return queue.isArranged
        }
        // The job may be of another caller than the serving job (law 38).
        Deadline.without { if let begun = job.take() { run(begun) } }
        // Checked again, since the job took time and may have submitted others.
        if !isArranged { arrange() }
    }

    /// Runs a job that has its token, or passes it to the context that runs the jobs.
    private func run(_ job: consuming RateLimitedJob) {
        var job = job
        guard let target else { return job.run() }
        let (work, refused) = CompletionGuard.closures(
            for: TargetJob(job: job, core: self, target: target))
        target.execute(consume work, refused: consume refused)
    }

    /// Puts the token with this number back, so that the next job begins sooner.
    func giveBack(_ take: UInt64) {
        let now = now
        let (alarm, effect) = withQueue { queue -> (Alarm?, RateLimiterQueue.Effect) in
            (queue.giveBack(take), queue.arrange(at: now, in: section))
        }
        alarm?.cancel()
        perform(effect)
    }

    private func arrange() {
        let now = now
        perform(withQueue { $0.arrange(at: now, in: section) })
    }

    private func perform(_ effect: RateLimiterQueue.Effect) {
        switch effect {
        case .nothing: break
        case .submitServingJob:
            // Never inline: many jobs that may begin would nest.
            base.enqueue(CompletionGuard.work(for: ServingJob(core: self)))
        case .set(let alarm, let instant): set(alarm, at: instant, on: base)
        case .cancel(let alarm): alarm.cancel()
        }
    }

    private func set(_ alarm: Alarm, at instant: ContextInstant, on base: some SerialContext) {
        alarm.set(
            at: instant, on: base, from: place, fired: { alarm in self.serve { $0.end(alarm) } },
            dropped: { alarm in
                if self.withQueue({ $0.end(alarm) }) { self.abandonAll() }
            })
    }

    /// Drops all waiting jobs, since the context dropped the job that should begin them.
    private func abandonAll() {
        var jobs = withQueue { $0.takeAll() }
        for index in jobs.indices { jobs[index].drop(Refusal(.abandoned, by: base.name)) }
        arrange()
    }

    /// A serving job, which begins the jobs that have a token.
    private struct ServingJob: GuardedJob {
        let core: RateLimiterCore
        /// The job submitted with this serving job; nil if it serves jobs that have waited.
        var number: Int?
        var isAwaited = false

        var source: JobSource { JobSource(.unknown, label: core.name) }

        func run() {
            core.serve {
                $0.endServingJob()
                return true
            }
        }

        func refuse(_ refusal: Refusal) {
            if isAwaited { return end(refusal) }
            // The limiter has accepted the job: a full base takes it above its capacity.
            core.base.enqueue(CompletionGuard.work(for: self))
        }

        func drop() { end(Refusal(.abandoned, by: core.base.name)) }

        private func end(_ refusal: Refusal) {
            guard let number else {
                core.withQueue { $0.endServingJob() }
                return core.abandonAll()
            }
            var job = core.withQueue { queue in
                queue.endServingJob()
                return queue.remove(number)
            }
            job?.drop(refusal)
            core.arrange()
        }
    }

    /// A job on its way to the context that runs it.
    private struct TargetJob: GuardedJob {
        var job: RateLimitedJob
        let core: RateLimiterCore
        let target: any ExecutionContext

        var source: JobSource { job.source }

        mutating func run() { job.run() }

        mutating func refuse(_ refusal: Refusal) {
            if job.isAwaited { return end(refusal) }
            // The limiter has accepted the job: a full context takes it above its capacity.
            target.enqueue(CompletionGuard.work(for: self))
        }

        mutating func drop() { end(Refusal(.abandoned, by: target.name)) }

        private mutating func end(_ refusal: Refusal) {
            job.drop(refusal)
            core.giveBack(job.tokenNumber)
        }
    }
}
