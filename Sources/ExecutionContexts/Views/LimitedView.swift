/// At most so many jobs at a time, and barriers: what `limited(to:)` and `barrier()` return.
///
/// Jobs wait in one queue. Each drain on the base, called a worker here, takes one job at a time
/// from the front, so that no job waits behind a blocked one. A worker that starts a job requests
/// another worker if the next job can start. So there are as many workers as there are jobs to run,
/// and never more than the width.
public class LimitedView: Drainer, BarrierContext, Limiter,
    @unchecked Sendable  // See below.
{
    // Unchecked for the superclass only: everything here is a sendable constant.
    let base: any ExecutionContext
    /// Computed once. The base gets drains, and so cannot bind anything to a job itself (law 8).
    public let submissionTransform: (@Sendable (_ work: @escaping Work) -> Work)?
    public let name: String
    private let state: Guarded<LimitedViewState>

    init(base: some ExecutionContext, width: Int, name: String) {
        self.base = base
        submissionTransform = base.submissionTransform
        self.name = name
        state = Guarded(LimitedViewState(width: width))
        super.init(over: base)
    }

    // Disfavored as that of every view: the compiler then prefers the more specific maker.
    @_disfavoredOverload
    public func execute(_ work: consuming @escaping Work) {
        let work = UnmanagedWork(bound(consume work))
        if state.withLock({ $0.append(work.assembled()) }) { requestDrain(on: base) }
    }

    public func enqueue(_ work: consuming @escaping Work) {
        let work = UnmanagedWork(bound(consume work))
        if state.withLock({ $0.append(work.assembled()) }) { requestDrainLater(on: base) }
    }

    public func executeBarrier(_ work: consuming @escaping Work) {
        let work = UnmanagedWork(bound(consume work))
        if state.withLock({ $0.append(work.assembled(), isBarrier: true) }) {
            requestDrain(on: base)
        }
    }

    /// Yes inside this view's work, no elsewhere, except for law 4's one exception.
    public var isCurrent: Bool? { unsafe Frame.isCurrent(identity) }

    public var time: any TimeSource { base.time }

    public var facts: ContextFacts {
        var facts = ContextFacts()
        facts.meansThread = base.jobsMeanThread
        facts.forecast = { [self] forecast in
            if isCurrent == true { forecast.limiters.append(self) }
            forecast.follow(base)
        }
        return facts
    }

    final func jobWaits(for end: AwaitedEnd) -> Bool {
        let jobs = unsafe Frame.jobs(of: identity)
        return state.withLock { $0.beginWait(jobs, for: end) }
    }

    final func jobResumes(after end: AwaitedEnd) { state.withLock { $0.endWait(end) } }

    override var drainedName: String { name }

    override func drain() { runDrains(on: base) { runJobs() } }

    /// Runs jobs until none can start (true), or until the budget is spent and another worker must
    /// be requested (false).
    private func runJobs() -> Bool {
        var budget = DrainBudget()
        var step = state.withLock { $0.startWorker() }
        while true {
            // A base that runs work on the caller runs the new worker inside the request. This
            // worker dismisses it and runs all the jobs, one after the other.
            if step.needsWorker, requestContinuation(on: base) {
                state.withLock { $0.dismissWorker() }
            }
            guard run(&step) else { return true }
            if budget.spend() {
                return !state.withLock { $0.retire(endingBarrier: step.isBarrier) }
            }
            step = state.withLock { $0.next(endingBarrier: step.isBarrier) }
        }
    }

    /// Whether a queued job can start.
    final var canStartJob: Bool { state.withLock { $0.canStart } }

    /// Runs the job of a step and frees it, before the step is recorded as ended (law 10).
    ///
    /// Returns false if the step has no job.
    private func run(_ step: inout LimitedViewState.Step) -> Bool {
        guard let work = step.work.take() else { return false }
        work()
        Frame.endJob()
        return true
    }

    override func drainWasDropped() {
        var dropped = state.withLock { $0.workerWasDropped() }
        if dropped.isEmpty { return }
        // The jobs are freed outside the lock and concurrently with no other job. Callers that
        // await one receive a refusal (laws 1, 9, 10).
        unsafe Frame.enterJobs(of: identity) { _ = dropped.takeAll() }
        if state.withLock({ $0.retire(endingBarrier: true) }) { requestDrain(on: base) }
    }
}
