/// Lets through so many pieces at a time, and barriers alone: what `limited(to:)` and `barrier()` share.
///
/// Work waits in one line. Workers - drains on the base - take from its front, one piece at a time, so that no
/// piece hides behind a blocked one. A worker that starts asks for the next one if it leaves anything
/// behind that could start, so there are as many as there is work for and never more than the width.
class Gate<Base: ExecutionContext>: DrainedView, BarrierContext, ForeseeingContext, Limiter,
    @unchecked Sendable  // See below.
{
    // Unchecked for the superclass only: everything here is a sendable constant.
    let base: Base
    /// Asked once; the base gets drains, and so could not bind anything to a piece itself (law 8).
    let binding: (@Sendable (_ work: @escaping Work) -> Work)?
    let name: String
    private let line: Guarded<GateLine>

    init(base: Base, width: Int, name: String) {
        self.base = base
        binding = base.binding
        self.name = name
        line = Guarded(GateLine(width: width))
        super.init(over: Base.self)
    }

    func execute(_ work: consuming @escaping Work) {
        let work = LooseWork(bound(consume work))
        if line.withLock({ $0.append(work.assembled()) }) { requestDrain(on: base) }
    }

    func enqueue(_ work: consuming @escaping Work) {
        let work = LooseWork(bound(consume work))
        if line.withLock({ $0.append(work.assembled()) }) { requestDrainElsewhere(on: base) }
    }

    func executeBarrier(_ work: consuming @escaping Work) {
        let work = LooseWork(bound(consume work))
        if line.withLock({ $0.append(work.assembled(), isBarrier: true) }) { requestDrain(on: base) }
    }

    /// Yes inside this view's work, no elsewhere, except for law 4's one exception.
    var isCurrent: Bool? { unsafe Frame.isCurrent(identity) }

    var time: any TimeSource { base.time }

    final func foresee(_ outlook: inout Outlook) {
        if isCurrent == true { outlook.limiters.append(self) }
        outlook.follow(base)
    }

    final func jobWaits(for end: AwaitedEnd) -> Bool {
        let jobs = unsafe Frame.jobs(of: identity)
        return line.withLock { $0.beginWait(jobs, for: end) }
    }

    final func jobGoesOn(after end: AwaitedEnd) { line.withLock { $0.endWait(end) } }

    override func drain() { takeTurns(on: base) { runPieces() } }

    /// Runs work until nothing can start (true) or the budget is spent and another worker is asked for.
    private func runPieces() -> Bool {
        var budget = DrainBudget()
        var step = line.withLock { $0.startWorker() }
        while true {
            // A base that runs it on the caller sends it here: this worker does it all, one after the other.
            if step.needsWorker, requestTurn(on: base) { line.withLock { $0.dismissWorker() } }
            guard run(&step) else { return true }
            if budget.spend() {
                return !line.withLock { $0.retire(endingBarrier: step.isBarrier) }
            }
            step = line.withLock { $0.next(endingBarrier: step.isBarrier) }
        }
    }

    /// Whether anything waits for a worker.
    final var isWaitedFor: Bool { line.withLock { $0.canStart } }

    /// Runs the job of a step and frees it, before the step is said to have ended (law 10); false
    /// if there is none.
    private func run(_ step: inout GateLine.Step) -> Bool {
        guard let work = step.work.take() else { return false }
        work()
        Frame.endJob()
        return true
    }

    override func drainWasLost() {
        var lost = line.withLock { $0.workerWasLost() }
        if lost.isEmpty { return }
        // Freed outside the lock, with no other job beside it, and those who wait for an answer get
        // it (laws 1, 9, 10).
        unsafe Frame.enterJobs(of: identity) { _ = lost.takeAll() }
        if line.withLock({ $0.retire(endingBarrier: true) }) { requestDrain(on: base) }
    }
}
