internal import ExecutionContexts
internal import Synchronization

/// A job of a group, which is called once: on the context, or with a refusal where the context
/// refused or dropped it.
typealias ConfinedJob = @Sendable (_ refusal: Refusal?) -> Void

/// The jobs that a group of objects runs, one at a time, on a serial context that they share.
///
/// A call from that context runs its job at once where order allows (law 6); any other call submits
/// it. A job that is requested during another job of the group runs after it, before the thread
/// returns to the context. So no state is entered twice, a chain of calls does not nest the stack,
/// and the chain takes one submission.
///
/// A job that the context refuses or drops is called with the refusal, on the thread that drops it
/// or in the running job: no job of the group runs beside it. It answers its waiting caller, or
/// changes the state of the group nevertheless.
final class ConfinedJobs: @unchecked Sendable {
    // Unchecked, also at run time: `waiting` is accessed by the owner of the group only, and
    // `isRunning` on the context only, which is serial. No access lasts while a job runs.
    let context: any SerialContext
    /// What the context adds to its jobs; nil if it adds nothing.
    private let additions: InlineAdditions?
    private let ownership = GroupOwnership()
    /// The jobs after the running one.
    @exclusivity(unchecked) private var waiting = FIFO<Waiting>()
    /// Whether the context owns the group, and runs a job of it.
    @exclusivity(unchecked) private var isRunning = false
    /// How many jobs have been submitted to the context and have not started.
    fileprivate let submitted = Atomic<Int>(0)

    init(on context: some SerialContext) {
        self.context = context
        additions = InlineAdditions(of: context)
    }

    /// Runs a job inline or later.
    ///
    /// - Parameter mayBeRefused: whether a full context may refuse it. Else the job completes work
    ///   that was accepted before, and the context takes it above its capacity.
    func perform(
        _ origin: ConfinedOrigin, mayBeRefused: Bool = false,
        _ job: consuming @escaping ConfinedJob
    ) {
        if runsInline { runHere(consume job) } else { submit(origin, mayBeRefused, consume job) }
    }

    /// Runs a job after the running one, before those that other callers submit. Call it in a job
    /// of the group.
    func runAfterCurrent(_ job: @escaping Work) { unsafe waiting.append(.inJob(job)) }

    /// Whether the caller is known to be on the context, and may run a job at once.
    var canRunHere: Bool { context.isCurrent == true && additions?.skipsNow != true }

    private var runsInline: Bool {
        SimulationHooks.look()
        // Acquiring: the submissions of this thread, and of those that happen before it, must be
        // seen, and they are visible (law 6).
        return submitted.load(ordering: .acquiring) == 0 && canRunHere
    }

    private func submit(
        _ origin: ConfinedOrigin, _ mayBeRefused: Bool, _ job: consuming @escaping ConfinedJob
    ) {
        SimulationHooks.point()
        submitted.add(1, ordering: .acquiringAndReleasing)
        let closures = CompletionGuard.closures(
            for: SubmittedJob(
                jobs: self, origin: origin, mayBeRefused: mayBeRefused, job: consume job))
        context.execute(closures.work, refused: closures.refused)
    }

    /// A submitted job has started, or will not start.
    fileprivate func countDown() {
        SimulationHooks.point()
        submitted.subtract(1, ordering: .acquiringAndReleasing)
    }

    /// Runs a job at once, with what the context adds to its jobs. The caller is on the context and
    /// ensures the order.
    func runHere(_ job: consuming @escaping ConfinedJob) {
        guard unsafe !isRunning, let additions else { return run(consume job) }
        let job = consume job
        additions.adding(to: { self.run(job) })()
    }

    /// Runs a job inline, or after the running one. The caller is on the context and ensures the
    /// order.
    fileprivate func run(_ job: consuming @escaping ConfinedJob) {
        var job: ConfinedJob? = consume job
        if unsafe isRunning {
            if let job = job.take() { unsafe waiting.append(.onContext(job)) }
            return
        }
        // While another thread answers a dropped job, this one waits for it.
        guard ownership.take() || ownership.leave(&job, nil) else { return }
        unsafe isRunning = true
        runAsOwner(&job, nil)
        unsafe isRunning = false
    }

    /// Calls a job that the context refused or dropped with the refusal, on any thread.
    fileprivate func answer(_ job: consuming @escaping ConfinedJob, _ refusal: Refusal) {
        var job: ConfinedJob? = consume job
        guard ownership.take() || ownership.leave(&job, refusal) else { return }
        runAsOwner(&job, refusal)
    }

    /// Runs a job, if there is one, and the jobs that wait for it; with a refusal if the context
    /// dropped the job.
    private func runAsOwner(_ job: inout ConfinedJob?, _ refusal: Refusal?) {
        var jobsWait = false
        // The jobs are of several callers: none sees the deadline of the thread (law 38).
        Deadline.without {
            if let job = job.take() { job(refusal) }
            while true {
                while let next = unsafe waiting.popFirst() { next.run() }
                switch ownership.next(isOnContext: refusal == nil) {
                case .call(let left): left()
                case .isOver(let jobs):
                    jobsWait = jobs
                    return
                }
            }
        }
        if jobsWait { fetchJobs() }
    }

    /// Submits a job that runs the jobs left to the context first.
    private func fetchJobs() {
        submit(.library("jobs after a dropped one"), false) { [ownership] refusal in
            if let refusal { ownership.drop(refusal) }
        }
    }
}

/// A job that waits for the running one. Each kind is kept as it came, which saves an allocation.
private enum Waiting {
    case inJob(Work)
    case onContext(ConfinedJob)

    func run() {
        switch self {
        case .inJob(let job): job()
        case .onContext(let job): job(nil)
        }
    }
}

/// Where a job comes from: a call, or the library. Without a `String`, which would be counted.
enum ConfinedOrigin: Sendable {
    case call(CodePlace)
    /// The purpose of the job.
    case library(StaticString)

    static func call(_ fileID: StaticString, _ line: UInt) -> ConfinedOrigin {
        .call(CodePlace(fileID, line))
    }

    var source: JobSource {
        switch self {
        case .call(let place): JobSource(place)
        case .library(let label): JobSource(.unknown, label: "\(label)")
        }
    }
}

/// A job on its way through the context.
private struct SubmittedJob: GuardedJob {
    let jobs: ConfinedJobs
    let origin: ConfinedOrigin
    let mayBeRefused: Bool
    /// Nil once it was passed to the group.
    var job: ConfinedJob?

    var source: JobSource { origin.source }

    mutating func run() {
        jobs.countDown()
        if let job = job.take() { jobs.run(consume job) }
    }

    mutating func refuse(_ refusal: Refusal) {
        if mayBeRefused { return end(refusal) }
        guard let job = job.take() else { return }
        var accepted = self
        // If the context drops it after all, the first refusal is the reason.
        accepted.job = { dropped in job(dropped == nil ? nil : refusal) }
        jobs.context.enqueue(CompletionGuard.work(for: accepted))
    }

    mutating func drop() { end(Refusal(.abandoned, by: jobs.context.name)) }

    private mutating func end(_ refusal: Refusal) {
        jobs.countDown()
        if let job = job.take() { jobs.answer(consume job, refusal) }
    }
}
