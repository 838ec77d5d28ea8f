internal import ExecutionContexts
internal import Synchronization

/// The state of a queue behind its lock, and the context. The queue's jobs keep it alive.
///
/// A change under the lock yields the slot of the next job, for which the caller makes a request
/// after unlocking (law 9).
final class PrioritizedQueueCore: @unchecked Sendable {
    // Unchecked, also at run time: `state`, and the slots, phases and outcome flags of jobs, are
    // accessed inside `section` only.
    let base: any ExecutionContext
    let name: String
    /// Whether the base runs each request once, on another thread, and adds nothing to its job.
    ///
    /// Then a request may run one job after another. On any other context each job is a separate
    /// job of the context.
    let isBaseReliable: Bool
    /// Computed once: another thread may hand a job over, so the base cannot bind anything to it.
    let submissionTransform: (@Sendable (_ work: @escaping Work) -> Work)?
    private let section: CriticalSection
    @exclusivity(unchecked) private var state: PrioritizedQueueState
    /// Handlers to call when no job waits or runs, by number; accessed inside `section`.
    @exclusivity(unchecked) private var idleHandlers: [Int: Work] = [:]
    /// Handlers to call when the number of jobs may have changed; accessed inside `section`.
    @exclusivity(unchecked) private var watchers: [Int: Work] = [:]
    @exclusivity(unchecked) private var lastWatcher = 0
    /// Whether there is one. Relaxed, as `hasIdleHandlers`.
    private let hasWatchers = Atomic<Bool>(false)
    /// Whether there is one. Relaxed: the thread that ends the last job enters the section after
    /// the thread that has added the handler, so it sees it.
    private let hasIdleHandlers = Atomic<Bool>(false)

    init(on base: some ExecutionContext, limit: Int, name: String) {
        self.base = base
        self.name = name
        isBaseReliable = base.facts.isReliable
        submissionTransform = base.submissionTransform
        section = CriticalSection(name: "queue \(name)")
        unsafe state = PrioritizedQueueState(limit: limit, isBaseReliable: isBaseReliable)
    }

    /// Runs `body` inside the section. It must be short and run no user code.
    func locked<Result>(_ body: () -> Result) -> Result { section.execute { body() } }

    @inline(__always)
    func withState<Result>(_ body: (inout PrioritizedQueueState) -> Result) -> Result {
        section.execute { unsafe body(&state) }
    }

    // MARK: Settings

    var limit: Int {
        get { withState { $0.limit } }
        set { change { $0.limit = newValue } }
    }

    var isSuspended: Bool {
        get { withState { $0.isSuspended } }
        set { change { $0.isSuspended = newValue } }
    }

    var pendingCount: Int { withState { $0.pendingCount } }
    var runningCount: Int { withState { $0.runningCount } }

    /// Called when the queue is released, after which no caller can resume it or raise its limit.
    func queueReleased() {
        change {
            $0.isSuspended = false
            $0.limit = max($0.limit, 1)
        }
    }

    private func change(_ body: (inout PrioritizedQueueState) -> Void) {
        var slot = withState {
            body(&$0)
            return $0.next()
        }
        while let next = slot {
            handOver(next)
            slot = withState { $0.next() }
        }
        noteChange()
    }

    /// Calls `body` when the number of jobs may have changed, until the returned number is removed.
    func addWatcher(_ body: @escaping Work) -> Int {
        section.execute {
            unsafe lastWatcher += 1
            unsafe watchers[lastWatcher] = body
            hasWatchers.store(true, ordering: .relaxed)
            return unsafe lastWatcher
        }
    }

    func removeWatcher(_ number: Int) {
        let removed = section.execute { () -> Work? in
            let removed = unsafe watchers.removeValue(forKey: number)
            hasWatchers.store(unsafe !watchers.isEmpty, ordering: .relaxed)
            return removed
        }
        withExtendedLifetime(removed) {}
    }

    @inline(__always)
    func noteChange() {
        if hasWatchers.load(ordering: .relaxed) { callWatchers() }
    }

    private func callWatchers() {
        for watcher in section.execute({ unsafe Array(watchers.values) }) { watcher() }
    }

    /// Calls `body` when no job waits or runs; returns the number with which it is removed, or nil
    /// if it was called.
    func whenIdle(_ body: @escaping Work) -> Int? {
        let number = section.execute { () -> Int? in
            if unsafe state.isIdle { return nil }
            unsafe lastWatcher += 1
            unsafe idleHandlers[lastWatcher] = body
            hasIdleHandlers.store(true, ordering: .relaxed)
            return unsafe lastWatcher
        }
        if number == nil { body() }
        return number
    }

    func removeIdleHandler(_ number: Int) {
        let removed = section.execute { unsafe idleHandlers.removeValue(forKey: number) }
        withExtendedLifetime(removed) {}
    }

    /// Called after each step that may have ended the last job, and its notification.
    func noteEnd() {
        noteChange()
        guard hasIdleHandlers.load(ordering: .relaxed) else { return }
        let handlers = section.execute { () -> [Int: Work] in
            guard unsafe state.isIdle else { return [:] }
            hasIdleHandlers.store(false, ordering: .relaxed)
            defer { unsafe idleHandlers = [:] }
            return unsafe idleHandlers
        }
        for (_, handler) in handlers.sorted(by: { $0.key < $1.key }) { handler() }
    }

    /// Cancels the jobs that have not started; returns how many.
    func cancelAll() -> Int {
        withState { $0.unstarted }.count { cancel($0) }
    }

    // MARK: Submitting

    /// Queues a closure. Binds the submitter's values for the base here.
    func submit(
        _ work: consuming @escaping Work, _ priority: WorkPriority, neverInline: Bool = false
    ) {
        var item = QueuedItem(work: bound(consume work))
        submit(&item, priority, neverInline: neverInline)
    }

    func submit(_ job: QueuedJob) {
        var item = QueuedItem(job: job)
        submit(&item, job.priority)
    }

    /// Binds the submitter's context values to a job, since another thread may hand it over.
    func bound(_ work: consuming @escaping Work) -> Work {
        // Not `??`: passing a closure through a generic function wraps it in an allocated thunk.
        guard let submissionTransform else { return work }
        return submissionTransform(work)
    }

    /// Moves the item into the state: no frame keeps the closure when the base runs it (law 10),
    /// and no reference is counted inside the section.
    private func submit(
        _ item: inout QueuedItem, _ priority: WorkPriority, neverInline: Bool = false
    ) {
        let slot = withState {
            $0.append(&item, priority)
            return $0.next()
        }
        noteChange()
        if let slot { handOver(slot, neverInline: neverInline) }
    }

    // MARK: Jobs

    /// Ends one part of a job that has begun. The last part returns the permit.
    ///
    /// - Parameter answers: whether the outcome of the job was decided with this part.
    func end(_ job: QueuedJob, answers: Bool) {
        let (following, mustNotify) = withState { state -> (Int32?, Bool) in
            let mustNotify = answers && job.publishOutcome()
            if mustNotify { state.notifyingCount += 1 }
            return (job.endPart() ? state.nextOfEnded() : nil, mustNotify)
        }
        // The next job first: a notified caller may wait for it.
        if let following { handOver(following) }
        if mustNotify { notify(job) }
        noteEnd()
    }

    /// Notifies the submitter of a job; the job counts until then.
    func notify(_ job: QueuedJob) {
        job.notify()
        withState { $0.notifyingCount -= 1 }
    }

    /// Cancels a job that has not started; true if this call did, and the job never starts.
    func cancel(_ job: QueuedJob) -> Bool {
        var (item, following) = withState { state -> (QueuedItem?, Int32?) in
            switch job.phase {
            case .pending: return (state.withdraw(job), nil)
            case .handed: return (state.revoke(job), state.next())
            case .started, .over: return (nil, nil)
            }
        }
        guard item != nil else { return false }
        item?.drop(CancellationError())
        withState { $0.notifyingCount -= 1 }
        if let following { handOver(following) }
        noteEnd()
        return true
    }

    /// Where the job comes from that a request for a slot will run; unknown if that is open.
    ///
    /// Whether anything calls this must not affect a schedule (law 33). So a simulated thread does
    /// not wait: the lock owner may need the scheduler token.
    func source(of slot: Int32) -> JobSource {
        if slot == PrioritizedQueueState.anySlot { return .unknown }
        guard SimulationHooks.current != nil else { return withState { $0.source(of: slot) } }
        return section.look { unsafe state.source(of: slot) } ?? .unknown
    }

    func priority(of job: QueuedJob) -> WorkPriority { locked { job.priority } }

    /// Moves a queued job to another priority. A job that was handed over keeps its order and
    /// stores the priority for its own use.
    func setPriority(_ priority: WorkPriority, of job: QueuedJob) {
        let isHandedOver = withState {
            if job.phase == .pending {
                $0.move(job, to: priority)
                return false
            }
            job.priority = priority
            return true
        }
        if isHandedOver { job.priorityChanged() }
    }

    func isPending(_ job: QueuedJob) -> Bool { locked { job.phase == .pending } }

    func isOver(_ job: QueuedJob) -> Bool { locked { job.phase == .over } }
}
