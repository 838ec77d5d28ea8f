/// Lets through so many pieces at a time, and barriers alone: what `limited(to:)` and `barrier()` share.
///
/// Work waits in one line. Workers - drains on the base - take from its front, one piece at a time, so that no
/// piece hides behind a blocked one. A worker that starts asks for the next one if it leaves anything
/// behind that could start, so there are as many as there is work for and never more than the width.
final class Gate<Base: ExecutionContext>: DrainedView, BarrierContext, @unchecked Sendable {
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
        let work = LooseWork(bound(work))
        if line.withLock({ $0.append(work.assembled()) }) { requestDrain(on: base) }
    }

    func enqueue(_ work: @escaping Work) {
        let work = bound(work)
        if line.withLock({ $0.append(work) }) { requestDrainElsewhere(on: base) }
    }

    func executeBarrier(_ work: @escaping Work) {
        let work = bound(work)
        if line.withLock({ $0.append(work, isBarrier: true) }) { requestDrain(on: base) }
    }

    /// Yes inside this view's work, no elsewhere, except for law 4's one exception.
    var isCurrent: Bool? { unsafe Frame.isCurrent(identity) }

    var time: any TimeSource { base.time }

    override func drain() { takeTurns(on: base) { runPieces() } }

    /// Runs work until nothing can start (true) or the budget is spent and another worker is asked for.
    private func runPieces() -> Bool {
        var budget = DrainBudget()
        var step = line.withLock { $0.startWorker() }
        while true {
            // A base that runs it on the caller sends it here: this worker does it all, one after the other.
            if step.needsWorker, requestTurn(on: base) { line.withLock { $0.dismissWorker() } }
            guard let work = step.work else { return true }
            work()
            step.work = nil
            if budget.spend() {
                return !line.withLock { $0.retire(endingBarrier: step.isBarrier) }
            }
            step = line.withLock { $0.next(endingBarrier: step.isBarrier) }
        }
    }

    override func drainWasLost() {
        // Freed outside the lock, where who waits for an answer gets it (laws 1, 9).
        _ = line.withLock { $0.workerWasLost() }
    }
}
