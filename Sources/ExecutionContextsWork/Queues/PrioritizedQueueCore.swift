internal import ExecutionContexts

/// The state of a queue behind its lock, and the context. The queue's jobs keep it alive.
///
/// A change under the lock yields the next job, which the caller hands over after unlocking
/// (law 9).
final class PrioritizedQueueCore: @unchecked Sendable {
    // Unchecked: `state`, and the slots, phases and marks of the jobs, are accessed inside
    // `section` only.
    let base: any ExecutionContext
    let name: String
    private let section: CriticalSection
    private var state: PrioritizedQueueState

    init(on base: some ExecutionContext, limit: Int, name: String) {
        self.base = base
        self.name = name
        section = CriticalSection(name: "queue \(name)")
        state = PrioritizedQueueState(limit: limit)
    }

    /// Binds the submitter's context values to the job, since another thread may hand it over.
    func bound(_ work: @escaping Work) -> Work {
        // Not `??`: passing a closure through a generic function wraps it in an allocated thunk.
        guard let submissionTransform = base.submissionTransform else { return work }
        return submissionTransform(work)
    }

    // MARK: Settings

    var limit: Int {
        get { section.execute { state.limit } }
        set { change { $0.limit = newValue } }
    }

    var isSuspended: Bool {
        get { section.execute { state.isSuspended } }
        set { change { $0.isSuspended = newValue } }
    }

    var pendingCount: Int { section.execute { state.pendingCount } }
    var runningCount: Int { section.execute { state.runningCount } }

    /// Called when the queue is released, after which no caller can resume it or raise its limit.
    func queueReleased() {
        change {
            $0.isSuspended = false
            $0.limit = max($0.limit, 1)
        }
    }

    func submit(_ job: QueuedJob, neverInline: Bool = false) {
        change(neverInline: neverInline) { $0.append(job) }
    }

    private func change(neverInline: Bool = false, _ body: (inout PrioritizedQueueState) -> Void) {
        let mark = ThreadMark.here
        let job = section.execute {
            body(&state)
            return next(by: mark)
        }
        handOver(job, neverInline: neverInline)
    }

    // MARK: Handing over

    /// Returns the next job, for the calling thread to hand over; inside the section.
    private func next(by mark: ThreadMark) -> QueuedJob? {
        let job = state.next()
        job?.handingThread = mark
        return job
    }

    /// Hands jobs to the base, one after the other, while there are permits.
    ///
    /// A job that has ended before the base has returned - it ran inline, or was refused - leaves
    /// the next one to this loop. Otherwise each job would nest in the previous one.
    private func handOver(_ first: QueuedJob?, neverInline: Bool = false) {
        guard var job = first else { return }
        let mark = ThreadMark.here
        while true {
            submitToBase(job, neverInline: neverInline)
            let following = section.execute {
                job.handingThread = nil
                return next(by: mark)
            }
            guard let following else { return }
            job = following
        }
    }

    // Not inlined: a guard that the base has dropped is freed when this returns, while the job is
    // still marked.
    @inline(never)
    private func submitToBase(_ job: QueuedJob, neverInline: Bool) {
        let completion = CompletionGuard(QueuedEntry(job: job))
        if neverInline { return base.enqueue { completion.run() } }
        if job.mayBeRefused {
            return base.execute({ completion.run() }, refused: { completion.refuse($0) })
        }
        // The queue has accepted the job: a full base takes it above its capacity.
        let base = base
        base.execute({ completion.run() }, refused: { _ in base.enqueue { completion.run() } })
    }

    // MARK: Phases of a job

    /// Whether a job that was handed over may begin: true once, and never after it was cancelled or
    /// refused.
    func begin(_ job: QueuedJob) -> Bool {
        section.execute {
            guard job.phase == .handed else { return false }
            job.phase = .started
            return true
        }
    }

    /// Ends one part of a job that has begun. The last part returns the permit.
    func end(_ job: QueuedJob, _ notify: () -> Void) {
        let mark = ThreadMark.here
        let following = section.execute { () -> QueuedJob? in
            job.parts -= 1
            return job.parts == 0 ? returnPermit(job, mark) : nil
        }
        // The next job first: a notified caller may wait for it.
        handOver(following)
        notify()
    }

    /// Drops a job that the base has refused or dropped.
    func refuse(_ job: QueuedJob, _ refusal: Refusal) {
        let mark = ThreadMark.here
        let (isDropped, following) = section.execute { () -> (Bool, QueuedJob?) in
            job.phase == .handed ? (true, returnPermit(job, mark)) : (false, nil)
        }
        if isDropped { job.drop(refusal) }
        handOver(following)
    }

    /// Cancels a job that has not started; true if this call did, and the job never starts.
    func cancel(_ job: QueuedJob) -> Bool {
        let mark = ThreadMark.here
        let (isCancelled, following) = section.execute { () -> (Bool, QueuedJob?) in
            switch job.phase {
            case .pending:
                state.withdraw(job)
                return (true, nil)
            case .handed: return (true, returnPermit(job, mark))
            case .started, .over: return (false, nil)
            }
        }
        if isCancelled { job.drop(CancellationError()) }
        handOver(following)
        return isCancelled
    }

    /// Returns the permit of a job, and takes the next job for the caller to hand over; inside the
    /// section.
    private func returnPermit(_ job: QueuedJob, _ mark: ThreadMark) -> QueuedJob? {
        state.returnPermit(job)
        return job.handingThread === mark ? nil : next(by: mark)
    }

    func priority(of job: QueuedJob) -> WorkPriority { section.execute { job.priority } }

    /// Moves a queued job to another priority. A job that was handed over keeps its order and
    /// stores the priority for its own use.
    func setPriority(_ priority: WorkPriority, of job: QueuedJob) {
        let isHandedOver = section.execute {
            if job.phase == .pending {
                state.move(job, to: priority)
                return false
            }
            job.priority = priority
            return true
        }
        if isHandedOver { job.priorityChanged() }
    }

    func isPending(_ job: QueuedJob) -> Bool { section.execute { job.phase == .pending } }

    /// Runs `body` inside the section. It must be short and run no user code.
    func locked<Result>(_ body: () -> Result) -> Result { section.execute { body() } }
}

/// Identifies a thread, to compare the thread that hands a job over with the one that ends it.
final class ThreadMark: Sendable {
    private static let local = SimulationHooks.making {
        ThreadLocalValue<ThreadMark> { _ in ThreadMark() }
    }

    /// The mark of the calling thread.
    static var here: ThreadMark { local.value() ?? ThreadMark() }
}
