/// A job of a context that ends, and whom to tell if it never runs.
struct EndingJob: Sendable {
    var work: Work?
    var refused: (@Sendable (Refusal) -> Void)?

    init(work: consuming @escaping Work, refused: (@Sendable (Refusal) -> Void)? = nil) {
        self.work = consume work
        self.refused = refused
    }

    /// Moves the job out, so that no frame of the submitter keeps its captures (law 10).
    mutating func take() -> EndingJob {
        var taken = EndingJob()
        swap(&self, &taken)
        return taken
    }

    private init() {}

    /// Adds what the base binds of the submitter: another thread's turn may run the job.
    mutating func bind(_ transform: (_ work: @escaping Work) -> Work) {
        if let work = work.take() { self.work = transform(work) }
    }

    /// Runs the job, and frees it.
    mutating func run() {
        refused = nil
        work.take()?()
    }

    /// Frees a job that never runs, and reports the refusal.
    mutating func drop(_ refusal: Refusal) {
        work = nil
        refused.take()?(refusal)
    }
}

/// The queue of a context that ends. Each job in it has one turn on the view; a turn runs the job
/// that is first by then.
final class EndingCore: Sendable {
    private struct State: ~Copyable {
        var jobs = FIFO<EndingJob>()
        /// How many jobs run or are being dropped; one, unless the base drops some.
        var running = 0
        var isShutDown = false
        /// The ends of the shutdown that are still to come.
        var ends: [EndingState] = []

        /// Takes the ends, if no job is left.
        mutating func takeEnds() -> [EndingState] {
            guard isShutDown, jobs.isEmpty, running == 0 else { return [] }
            defer { ends = [] }
            return ends
        }
    }

    let view: any ActorBackingContext
    let time: any TimeSource
    /// Made once: two executors of one context would not count as the same.
    let executor: any SerialExecutor
    private let state = Guarded(State())

    init(on view: some ActorBackingContext, time: any TimeSource) {
        self.view = view
        self.time = time
        executor = view.serialExecutor
    }

    /// Moves a job into the queue; returns a refusal, and leaves the job, after the shutdown.
    func submit(_ job: inout EndingJob) -> Refusal? {
        if let transform = view.submissionTransform { job.bind(transform) }
        let isShutDown = state.withLock { state in
            if !state.isShutDown { state.jobs.append(job.take()) }
            return state.isShutDown
        }
        if isShutDown { return Refusal(.shutDown, by: view.name) }
        view.execute(CompletionGuard.work(for: Turn(core: self)))
        return nil
    }

    /// Queues a job that was accepted before, whether or not the context was shut down.
    func accept(_ job: inout EndingJob) {
        if let transform = view.submissionTransform { job.bind(transform) }
        state.withLock { $0.jobs.append(job.take()) }
        view.enqueue(CompletionGuard.work(for: Turn(core: self)))
    }

    private func turn(_ end: (inout EndingJob) -> Void) {
        // Nil if the job was dropped by the end of the budget.
        var job = state.withLock { state in
            let job = state.jobs.popFirst()
            if job != nil { state.running += 1 }
            return job
        }
        guard job != nil else { return }
        end(&job!)
        job = nil
        let ends = state.withLock { state in
            state.running -= 1
            return state.takeEnds()
        }
        for end in ends { end.complete(with: ShutdownReport(droppedCount: 0, isRunning: false)) }
    }

    func shutDown(within budget: Duration?) -> Async<ShutdownReport> {
        let end = EndingState(of: view)
        let isOver = state.withLock { state in
            state.isShutDown = true
            if state.jobs.isEmpty, state.running == 0 { return true }
            state.ends.append(end)
            return false
        }
        if isOver {
            end.complete(with: ShutdownReport(droppedCount: 0, isRunning: false))
        } else if let budget {
            // Not on the view, whose job may be what does not end.
            let delay = TimeContext(time: time, name: view.name).schedule(after: budget) {
                self.drop()
            }
            Async<ShutdownReport>(state: end).tap { [weak delay] _ in delay?.cancel() }
        }
        return Async(state: end)
    }

    /// Drops what waits, since the time has passed.
    private func drop() {
        let (jobs, ends, isRunning) = state.withLock { state in
            let jobs = state.jobs.all
            state.jobs = FIFO()
            defer { state.ends = [] }
            return (jobs, state.ends, state.running > 0)
        }
        let refusal = Refusal(.shutDown, by: view.name)
        for var job in jobs { job.drop(refusal) }
        let report = ShutdownReport(droppedCount: jobs.count, isRunning: isRunning)
        for end in ends { end.complete(with: report) }
    }

    /// The turn of one job on the view.
    private struct Turn: GuardedJob {
        let core: EndingCore

        func run() { core.turn { $0.run() } }

        func drop() { core.turn { $0.drop(Refusal(.abandoned, by: core.view.name)) } }
    }
}

/// The future state of a shutdown.
private final class EndingState: FutureState, @unchecked Sendable {
    // Unchecked because its superclass is; it adds constants only.
    private let view: any ActorBackingContext

    init(of view: some ActorBackingContext) {
        self.view = view
        super.init()
    }

    override var obstacle: String? {
        guard view.isCurrent == true else { return nil }
        return "it completes when no job of '\(view.name)' is left, and the caller is one"
    }

    override var label: String { "the shutdown of '\(view.name)'" }
}
