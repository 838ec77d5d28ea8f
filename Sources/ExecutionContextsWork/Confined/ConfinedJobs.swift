internal import ExecutionContexts
internal import Synchronization

/// The jobs that a group of objects runs, one at a time, on a serial context that they share.
///
/// A call from that context runs its job at once where order allows (law 6); any other call submits
/// it. A job that is requested during another job of the group runs behind it, before the thread
/// returns to the context. So no state is entered twice, a chain of calls does not nest the stack,
/// and the chain takes one submission.
final class ConfinedJobs: @unchecked Sendable {
    // Unchecked, also at run time: mutable state is accessed on the context only, which is serial,
    // and no access lasts while a job runs.
    let context: any SerialContext
    /// What the context adds to its jobs; nil if it adds nothing.
    private let additions: InlineAdditions?
    @exclusivity(unchecked) private var waiting = WorkQueue()
    @exclusivity(unchecked) private var isRunning = false
    /// How many jobs have been submitted to the context and have not started.
    fileprivate let submitted = Atomic<Int>(0)

    init(on context: some SerialContext) {
        self.context = context
        additions = InlineAdditions(of: context)
    }

    /// Runs a job inline or later. It completes work that was accepted before, so a full context
    /// takes it above its capacity.
    func perform(_ origin: ConfinedOrigin, _ job: @escaping Work) {
        if runsInline { runHere(job) } else { submit(origin, job, refused: nil) }
    }

    /// Runs a job inline or later, or reports the refusal.
    func perform(
        _ origin: ConfinedOrigin, _ job: @escaping Work,
        refused: @escaping @Sendable (Refusal) -> Void
    ) {
        if runsInline { runHere(job) } else { submit(origin, job, refused: refused) }
    }

    /// Runs a job behind the running one, before those that other callers submit. Call it in a job
    /// of the group.
    func runAfterCurrent(_ job: @escaping Work) { unsafe waiting.append(job) }

    /// Whether the caller is known to be on the context, and may run a job at once.
    var canRunHere: Bool { context.isCurrent == true && additions?.skipsNow != true }

    private var runsInline: Bool {
        SimulationHooks.look()
        // Acquiring: the submissions of this thread, and of those that happen before it, must be
        // seen, and they are visible (law 6).
        return submitted.load(ordering: .acquiring) == 0 && canRunHere
    }

    private func submit(
        _ origin: ConfinedOrigin, _ job: @escaping Work, refused: (@Sendable (Refusal) -> Void)?
    ) {
        SimulationHooks.point()
        submitted.add(1, ordering: .acquiringAndReleasing)
        let closures = CompletionGuard.closures(
            for: SubmittedJob(jobs: self, origin: origin, job: job, refused: refused))
        context.execute(closures.work, refused: closures.refused)
    }

    /// A submitted job has started, or will not start.
    fileprivate func countDown() {
        SimulationHooks.point()
        submitted.subtract(1, ordering: .acquiringAndReleasing)
    }

    /// Runs a job at once, with what the context adds to its jobs. The caller is on the context and
    /// ensures the order.
    func runHere(_ job: @escaping Work) {
        guard unsafe !isRunning, let additions else { return run(job) }
        additions.adding(to: { self.run(job) })()
    }

    /// Runs a job inline, or behind the running one. The caller is on the context and ensures the
    /// order.
    func run(_ job: @escaping Work) {
        unsafe waiting.append(job)
        if unsafe isRunning { return }
        unsafe isRunning = true
        // The jobs are of several callers: none sees the deadline of the thread (law 38).
        Deadline.without { while let next = unsafe waiting.popFirst() { next() } }
        unsafe isRunning = false
    }
}

/// Where a job comes from: a call, or the library. Without a `String`, which would be counted.
enum ConfinedOrigin: Sendable {
    case call(CodePlace)
    /// What it does.
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
    var job: Work?
    /// Nil if a full context must take the job nevertheless.
    let refused: (@Sendable (Refusal) -> Void)?

    var source: JobSource { origin.source }

    mutating func run() {
        jobs.countDown()
        if let job = job.take() { jobs.run(job) }
    }

    mutating func refuse(_ refusal: Refusal) {
        if let refused {
            jobs.countDown()
            refused(refusal)
        } else {
            jobs.context.enqueue(CompletionGuard.work(for: self))
        }
    }

    mutating func drop() { jobs.countDown() }
}
