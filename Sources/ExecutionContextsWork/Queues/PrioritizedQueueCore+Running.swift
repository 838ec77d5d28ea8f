internal import ExecutionContexts

// How jobs with permits reach the base, and run there.
extension PrioritizedQueueCore {
    /// Requests that the base runs the job of a slot, and then those that this thread hands over
    /// meanwhile.
    ///
    /// A base may run, refuse or drop a request before it returns. That frees a permit, and the
    /// next job's request is left to this loop. Otherwise each one would nest in the previous one.
    func handOver(_ slot: Int32, neverInline: Bool = false) {
        // A simulation drops the jobs of a schedule that fails.
        if isBaseReliable && !SimulationHooks.isAnywhere {
            // Captures one object only, so the closure needs no allocation.
            return neverInline ? base.enqueue { self.runAny() } : base.execute { self.runAny() }
        }
        let mark = HandOverMark.here
        let outer = mark.begin(self)
        var next: Int32? = slot
        while let slot = next {
            request(slot, neverInline: neverInline)
            next = mark.following.popLast()
        }
        mark.end(restoring: outer)
    }

    private func request(_ slot: Int32, neverInline: Bool) {
        let (work, refused) = CompletionGuard.closures(for: QueueRequest(core: self, slot: slot))
        if neverInline { return base.enqueue(consume work) }
        base.execute(consume work, refused: consume refused)
    }

    /// Requests that the base runs the job of a slot, which another thread has freed, or leaves
    /// that to the loop of `handOver` that the caller is inside of.
    private func handOverNext(_ slot: Int32) {
        let mark = HandOverMark.here
        if mark.core === self { mark.following.append(slot) } else { handOver(slot) }
    }

    /// Handles a request that the base has refused, or dropped.
    fileprivate func refuse(_ slot: Int32, _ refusal: Refusal, wasDropped: Bool) {
        var (item, following, mustEnqueue) = withState { state -> (QueuedItem?, Int32?, Bool) in
            if !wasDropped, state.mayBeRefused(slot) == false { return (nil, nil, true) }
            let item = state.refuse(slot)
            return (item, item == nil ? nil : state.next(), false)
        }
        // The queue has accepted a job without a refusal: a full base takes it above its capacity.
        if mustEnqueue { return request(slot, neverInline: true) }
        if item != nil {
            item?.drop(refusal)
            withState { $0.notifyingCount -= 1 }
        }
        if let following { handOverNext(following) }
        noteEnd()
    }

    private func runAny() { run(PrioritizedQueueState.anySlot) }

    /// A request has come to the base: runs its job.
    fileprivate func run(_ slot: Int32) {
        // Passed on by reference: a copy would keep the captures until it is out of scope.
        guard var item = withState({ $0.begin(slot) }) else { return }
        // The jobs are of several submitters: none sees the deadline of the thread (law 38).
        Deadline.without { if isBaseReliable { runSeveral(&item) } else { runOne(&item) } }
    }

    private func runOne(_ item: inout QueuedItem) {
        let mark = HandOverMark.here
        // A job may hand over jobs of its own, which must not wait for its end.
        let outer = mark.begin(nil)
        item.run()
        mark.end(restoring: outer)
        let step = withState { $0.didRun(item, mayContinue: false) }
        finish(item, step)
    }

    /// Runs a job, and then one job after the other, each with the permit of the previous one.
    private func runSeveral(_ item: inout QueuedItem) {
        var budget = DrainBudget()
        while true {
            item.run()
            Frame.endJob()
            let mayContinue = !budget.spend()
            let step = withState { $0.didRun(item, mayContinue: mayContinue) }
            guard case .run(let next) = step else { return finish(item, step) }
            item = next
            noteChange()
        }
    }

    private func finish(_ item: QueuedItem, _ step: PrioritizedQueueState.Step) {
        guard case .end(let following, let mustNotify) = step else { return }
        // The next job first: a notified caller may wait for it.
        if let following { handOverNext(following) }
        if mustNotify, let job = item.job { notify(job) }
        noteEnd()
    }
}

/// A request that the base runs the job of a slot.
private struct QueueRequest: GuardedJob {
    let core: PrioritizedQueueCore
    let slot: Int32

    var source: JobSource { core.source(of: slot) }

    func run() { core.run(slot) }

    func refuse(_ refusal: Refusal) { core.refuse(slot, refusal, wasDropped: false) }

    func drop() {
        core.refuse(slot, Refusal(.abandoned, by: core.base.name), wasDropped: true)
    }
}

/// Which queue the calling thread hands jobs over for, and the slots that its loop is left with.
private final class HandOverMark: @unchecked Sendable {
    // Unchecked: only the thread whose mark it is accesses it.
    private(set) var core: PrioritizedQueueCore?
    var following: [Int32] = []

    private static let local = SimulationHooks.making {
        ThreadLocalValue<HandOverMark> { _ in HandOverMark() }
    }

    /// The mark of the calling thread.
    static var here: HandOverMark { local.value() ?? HandOverMark() }

    func begin(_ core: PrioritizedQueueCore?) -> (PrioritizedQueueCore?, [Int32]) {
        let outer = (self.core, following)
        self.core = core
        following = []
        return outer
    }

    func end(restoring outer: (PrioritizedQueueCore?, [Int32])) {
        (core, following) = outer
    }
}
