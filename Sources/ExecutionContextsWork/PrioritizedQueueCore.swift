internal import ExecutionContexts

/// What a queue's work needs, and keeps alive: the lines behind their lock, and the context.
///
/// Whatever changes under the lock says who is next, and that one is handed over after unlocking
/// (law 9).
final class PrioritizedQueueCore: @unchecked Sendable {
    // Unchecked: `lines`, and the slots, phases and marks of the jobs, are reached inside `section`
    // only.
    let base: any ExecutionContext
    let name: String
    private let section: CriticalSection
    private var lines: PrioritizedQueueLines

    init(on base: some ExecutionContext, limit: Int, name: String) {
        self.base = base
        self.name = name
        section = CriticalSection(name: "lines of \(name)")
        lines = PrioritizedQueueLines(limit: limit)
    }

    /// The work with what it needs of its submitter, for it may be handed over by somebody else.
    func bound(_ work: @escaping Work) -> Work {
        // Not `??`: a closure that goes through a generic function comes back in a thunk, with its
        // allocation.
        guard let binding = base.binding else { return work }
        return binding(work)
    }

    // MARK: What the queue is told

    var limit: Int {
        get { section.execute { lines.limit } }
        set { change { $0.limit = newValue } }
    }

    var isSuspended: Bool {
        get { section.execute { lines.isSuspended } }
        set { change { $0.isSuspended = newValue } }
    }

    var pendingCount: Int { section.execute { lines.pendingCount } }
    var runningCount: Int { section.execute { lines.runningCount } }

    /// Nobody can resume it or raise its limit any more.
    func letGo() {
        change {
            $0.isSuspended = false
            $0.limit = max($0.limit, 1)
        }
    }

    func submit(_ job: QueuedJob, elsewhere: Bool = false) {
        change(elsewhere: elsewhere) { $0.append(job) }
    }

    private func change(elsewhere: Bool = false, _ body: (inout PrioritizedQueueLines) -> Void) {
        let mark = ThreadMark.here
        let job = section.execute {
            body(&lines)
            return next(by: mark)
        }
        handOver(job, elsewhere: elsewhere)
    }

    // MARK: Handing over

    /// Who is next, for the calling thread to hand over; inside the section.
    private func next(by mark: ThreadMark) -> QueuedJob? {
        let job = lines.next()
        job?.hander = mark
        return job
    }

    /// Gives jobs to the base, one after the other, for as long as there are places.
    ///
    /// A job that has ended before the base has returned - it ran on the spot, or was refused -
    /// leaves the next to this loop: else each would nest in the one before.
    private func handOver(_ first: QueuedJob?, elsewhere: Bool = false) {
        guard var job = first else { return }
        let mark = ThreadMark.here
        while true {
            give(job, elsewhere: elsewhere)
            let following = section.execute {
                job.hander = nil
                return next(by: mark)
            }
            guard let following else { return }
            job = following
        }
    }

    // Not inlined: a turn that the base has dropped ends when this returns, while the job is still
    // marked.
    @inline(never)
    private func give(_ job: QueuedJob, elsewhere: Bool) {
        let turn = QueuedTurn(of: job)
        if elsewhere { return base.enqueue { turn.run() } }
        if job.mayBeRefused {
            return base.execute({ turn.run() }, refused: { turn.refuse($0) })
        }
        // It was accepted: where there is no room for it, it enters all the same.
        let base = base
        base.execute({ turn.run() }, refused: { _ in base.enqueue { turn.run() } })
    }

    // MARK: What becomes of a job

    /// Whether a job that was handed over may begin: true once, and never if it was cancelled or
    /// refused.
    func begin(_ job: QueuedJob) -> Bool {
        section.execute {
            guard job.phase == .handed else { return false }
            job.phase = .started
            return true
        }
    }

    /// One part of a job that has begun is over; with the last its place is free.
    func end(_ job: QueuedJob, _ tell: () -> Void) {
        let mark = ThreadMark.here
        let following = section.execute { () -> QueuedJob? in
            job.parts -= 1
            return job.parts == 0 ? leave(job, mark) : nil
        }
        // First the next: whoever is told may wait for it.
        handOver(following)
        tell()
    }

    /// The base does not run a job that it was given.
    func refuse(_ job: QueuedJob, _ refusal: Refusal) {
        let mark = ThreadMark.here
        let (isLost, following) = section.execute { () -> (Bool, QueuedJob?) in
            job.phase == .handed ? (true, leave(job, mark)) : (false, nil)
        }
        if isLost { job.drop(refusal) }
        handOver(following)
    }

    /// Sees to it that a job never starts: true if it has not, and this call did it.
    func cancel(_ job: QueuedJob) -> Bool {
        let mark = ThreadMark.here
        let (hasWon, following) = section.execute { () -> (Bool, QueuedJob?) in
            switch job.phase {
            case .pending:
                lines.withdraw(job)
                return (true, nil)
            case .handed: return (true, leave(job, mark))
            case .started, .over: return (false, nil)
            }
        }
        if hasWon { job.drop(CancellationError()) }
        handOver(following)
        return hasWon
    }

    /// Frees the place of a job, and says who is to be handed over by the caller; inside the
    /// section.
    private func leave(_ job: QueuedJob, _ mark: ThreadMark) -> QueuedJob? {
        lines.leave(job)
        return job.hander === mark ? nil : next(by: mark)
    }

    func priority(of job: QueuedJob) -> WorkPriority { section.execute { job.priority } }

    /// Moves a job that waits. One that has been handed over has had its turn, and keeps the
    /// priority for its own use.
    func setPriority(_ priority: WorkPriority, of job: QueuedJob) {
        let hasTurn = section.execute {
            if job.phase == .pending {
                lines.move(job, to: priority)
                return false
            }
            job.priority = priority
            return true
        }
        if hasTurn { job.priorityChanged() }
    }

    func isPending(_ job: QueuedJob) -> Bool { section.execute { job.phase == .pending } }

    /// Does something small with what is the lock's.
    func locked<Result>(_ body: () -> Result) -> Result { section.execute { body() } }
}

/// Tells one thread from another: who hands a job over from who ends it.
final class ThreadMark: Sendable {
    private static let local = Seam.making { ThreadLocalValue<ThreadMark> { _ in ThreadMark() } }

    /// That of the calling thread.
    static var here: ThreadMark { local.value() ?? ThreadMark() }
}
