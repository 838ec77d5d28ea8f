internal import ExecutionContexts

// Submits jobs with permits to the base, and runs them there.
extension PrioritizedQueueCore {
    /// Requests that the base runs the job of a slot, and then those that this thread hands over in
    /// the meantime.
    ///
    /// A base may run, refuse or drop a request before it returns. That frees a permit, and the
    /// next job's request is left to this loop. Otherwise each one would nest in the previous one.
    func handOver(_ slot: Int32, neverInline: Bool = false) {
        // A simulation drops the jobs of a schedule that fails.
        if isBaseReliable && !SimulationHooks.isAnywhere {
            // Captures one object only, so the closure needs no allocation.
            return neverInline ? base.enqueue { self.runAny() } : base.execute { self.runAny() }
        }
        let loop = HandOverLoop.here
        let outer = loop.begin(self)
        var next: Int32? = slot
        while let slot = next {
            request(slot, neverInline: neverInline)
            next = loop.following.popLast()
        }
        loop.end(restoring: outer)
    }

    private func request(_ slot: Int32, neverInline: Bool) {
        let (work, refused) = CompletionGuard.closures(for: QueueRequest(core: self, slot: slot))
        if neverInline { return base.enqueue(consume work) }
        base.execute(consume work, refused: consume refused)
    }

    /// Requests that the base runs the job of a slot, which another thread has freed, or leaves
    /// that to the enclosing `handOver` loop.
    private func handOverNext(_ slot: Int32) {
        let loop = HandOverLoop.here
        if loop.core === self { loop.following.append(slot) } else { handOver(slot) }
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

    /// Runs the job of a request that the base runs.
    fileprivate func run(_ slot: Int32) {
        // Passed on by reference: a copy would keep the captures until it is out of scope.
        guard var item = withState({ $0.begin(slot) }) else { return }
        // The jobs are of several submitters: none sees the deadline of the thread (law 38).
        Deadline.without { if isBaseReliable { runSeveral(&item) } else { runOne(&item) } }
    }

    private func runOne(_ item: inout QueuedItem) {
        let loop = HandOverLoop.here
        // A job may hand over further jobs, which must not wait for its end.
        let outer = loop.begin(nil)
        item.run()
        loop.end(restoring: outer)
        let step = withState { $0.didRun(item, mayContinue: false) }
        finish(item, step)
    }

    /// Runs a job, and then one job after another, each with the permit of the previous one.
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

/// The queue for which the calling thread hands over jobs, and the slots left to its loop.
private final class HandOverLoop: @unchecked Sendable {
    // Unchecked: only its own thread accesses it.
    private(set) var core: PrioritizedQueueCore?
    var following: [Int32] = []

    private static let local = SimulationHooks.making {
        ThreadLocalValue<HandOverLoop> { _ in HandOverLoop() }
    }

    /// The loop of the calling thread.
    static var here: HandOverLoop { local.value() ?? HandOverLoop() }

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
