/// A serial context with an end: after its shutdown it refuses jobs, and still serves its actors.
///
/// ```swift
/// let database = EndingSerialContext(on: .pool, named: "database")
/// database.execute { print("a query") }
/// let report = try await database.shutDown(within: .seconds(5)).get()
/// print(report)
/// ```
///
/// | | before `shutDown` | after it |
/// |---|---|---|
/// | `tryExecute`, `run`, `submit` | the job runs, in order | a refusal: shut down (law 1) |
/// | `execute` | the job runs, in order | traps |
/// | due delays, drains of its views | run, in order | run, in order: they were accepted |
/// | jobs of actors whose executor it is | run, in order | run, in order |
///
/// A job of an actor that the base drops runs on the global context, in order all the same. So an
/// actor that this context backs works to its own end (law 13).
///
/// It has no thread: it is a serial view of its base that counts its jobs (law 11).
public final class EndingSerialContext: SerialContext, RefusingContext, SerialExecutor {
    private struct State: ~Copyable {
        /// The jobs that wait for their turns, by number.
        var jobs: [Int: EndingJob] = [:]
        var lastNumber = 0
        /// How many jobs run or are being dropped; one, unless the base drops some.
        var running = 0
        var dropped = 0
        var isShutDown = false
        /// The futures of the shutdown until it ends, and the alarms of their budgets.
        var ends: [EndingState] = []
        var alarms: [DelayedWork] = []
        /// The report of the shutdown, once it has ended; it never changes.
        var report: ShutdownReport?

        mutating func add(_ job: inout EndingJob) -> Int {
            lastNumber += 1
            jobs[lastNumber] = job.take()
            return lastNumber
        }

        /// Ends the shutdown if no job is left.
        mutating func endIfIdle() -> End? {
            guard isShutDown, report == nil, jobs.isEmpty, running == 0 else { return nil }
            return end()
        }

        mutating func end() -> End {
            let report = ShutdownReport(droppedCount: dropped, isRunning: running > 0)
            self.report = report
            defer { (ends, alarms) = ([], []) }
            return End(ends: ends, alarms: alarms, report: report)
        }
    }

    /// What is performed outside the lock when the shutdown has ended.
    private struct End {
        let ends: [EndingState]
        let alarms: [DelayedWork]
        let report: ShutdownReport

        func perform() {
            for alarm in alarms { alarm.cancel() }
            for end in ends { end.complete(with: report) }
        }
    }

    /// Each job has a turn on the view, which orders the turns.
    private let view: any ActorBackingContext
    public let time: any TimeSource
    private let state = Guarded(State())

    /// Makes a serial context over `base`.
    public init(on base: some ExecutionContext, named name: String? = nil) {
        view = base.serial(named: name)
        time = base.time
    }

    public var name: String { view.name }

    public var isCurrent: Bool? { view.isCurrent }

    public func checkIsCurrent() -> Bool { view.checkIsCurrent() }

    public var submissionTransform: (@Sendable (_ work: @escaping Work) -> Work)? {
        view.submissionTransform
    }

    /// Runs `work` in order; traps after the shutdown, since it can report no refusal.
    public func execute(_ work: consuming @escaping Work) {
        var job = EndingJob(work: consume work)
        if accept(&job) == nil { return }
        stopMisuse(
            "A job was submitted by execute to '\(name)', which has been shut down (law 1). "
                + "Use tryExecute, run or submit, which report the refusal.")
    }

    public func tryExecute(_ work: consuming @escaping Work) throws(Refusal) {
        try Deadline.ofCaller?.admit(by: name, from: nil)
        var job = EndingJob(work: consume work)
        if let refusal = accept(&job) { throw refusal }
    }

    public func execute(
        _ work: consuming @escaping Work, refused: consuming @escaping @Sendable (Refusal) -> Void
    ) {
        var job = EndingJob(work: consume work, refused: consume refused)
        if let refusal = accept(&job) { job.drop(refusal) }
    }

    public func enqueue(_ work: consuming @escaping Work) {
        var job = EndingJob(work: consume work)
        let source = JobSource.isRead ? job.source : .unknown
        let number = state.withLock { $0.add(&job) }
        view.enqueue(CompletionGuard.work(for: Turn(context: self, number: number, source: source)))
    }

    /// Runs a job of an actor whose executor is this context, before the shutdown and after it.
    public func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        keeping(self) { view.submit(job, of: self) }
    }

    public func isIsolatingCurrentContext() -> Bool? { view.isIsolatingCurrentContext() }

    public func checkIsolated() { view.checkIsolated() }

    public var facts: ContextFacts {
        var facts = ContextFacts()
        facts.meansThread = view.jobsMeanThread
        return facts
    }

    /// Refuses all further jobs; returns an `Async` that completes when all accepted ones have run,
    /// or, with a budget, when its time has passed.
    ///
    /// 1. From this call on, jobs are refused.
    /// 2. The jobs that were accepted run.
    /// 3. When `budget` has passed in the time of the base, the jobs that still wait are dropped:
    ///    callers that await them receive a refusal. A job that runs is not interrupted.
    /// 4. The `Async` completes with what was left.
    ///
    /// A second call has the same end as the first one, or an earlier one.
    @discardableResult
    public func shutDown(within budget: Duration? = nil) -> Async<ShutdownReport> {
        let end = EndingState(of: self)
        let (ended, report) = state.withLock { state -> (End?, ShutdownReport?) in
            state.isShutDown = true
            if state.report == nil { state.ends.append(end) }
            return (state.endIfIdle(), state.report)
        }
        ended?.perform()
        if let report {
            end.complete(with: report)
        } else if let budget {
            // Not on the view, whose job may be what does not end.
            let alarm = TimeContext(time: time, name: name).schedule(after: budget) {
                self.budgetPassed()
            }
            let isOver = state.withLock { state in
                if state.report == nil { state.alarms.append(alarm) }
                return state.report != nil
            }
            if isOver { alarm.cancel() }
        }
        return Async(state: end)
    }

    /// Moves a job in, and gives it a turn; after the shutdown returns a refusal, and leaves it.
    private func accept(_ job: inout EndingJob) -> Refusal? {
        let source = JobSource.isRead ? job.source : .unknown
        guard let number = state.withLock({ $0.isShutDown ? nil : $0.add(&job) }) else {
            return Refusal(.shutDown, by: name)
        }
        view.execute(CompletionGuard.work(for: Turn(context: self, number: number, source: source)))
        return nil
    }

    private func take(_ number: Int) -> EndingJob? {
        state.withLock { state in
            // Nil if the budget has dropped it.
            guard let job = state.jobs.removeValue(forKey: number) else { return nil }
            state.running += 1
            return job
        }
    }

    private func end(wasDropped: Bool) {
        state.withLock { state in
            state.running -= 1
            if wasDropped { state.dropped += 1 }
            return state.endIfIdle()
        }?.perform()
    }

    /// Whether the shutdown ends by a budget, if by nothing else.
    fileprivate var hasBudget: Bool { state.withLock { !$0.alarms.isEmpty } }

    /// Drops the jobs that wait, in the order of submission, and ends the shutdown.
    private func budgetPassed() {
        var jobs: [Int: EndingJob] = [:]
        let end = state.withLock { state -> End? in
            guard state.report == nil else { return nil }
            swap(&jobs, &state.jobs)
            state.dropped += jobs.count
            return state.end()
        }
        let refusal = Refusal(.shutDown, by: name)
        for number in jobs.keys.sorted() {
            // Moved out, so that each is freed before the next one is called.
            var job = jobs.removeValue(forKey: number)
            job?.drop(refusal)
        }
        end?.perform()
    }

    private struct Turn: GuardedJob {
        let context: EndingSerialContext
        let number: Int
        let source: JobSource

        func run() {
            guard var job = context.take(number) else { return }
            job.run()
            context.end(wasDropped: false)
        }

        func drop() {
            guard var job = context.take(number) else { return }
            job.drop(Refusal(.abandoned, by: context.name))
            context.end(wasDropped: true)
        }
    }
}

/// What a shutdown left behind.
public struct ShutdownReport: Hashable, Sendable, CustomStringConvertible {
    /// How many accepted jobs never ran.
    public let droppedCount: Int
    /// Whether a job still ran when the time had passed.
    public let isRunning: Bool

    /// Whether every accepted job has run to its end.
    public var isComplete: Bool { droppedCount == 0 && !isRunning }

    public var description: String {
        if isComplete { return "all jobs have run" }
        return "\(droppedCount) jobs never ran" + (isRunning ? ", and one still runs" : "")
    }
}

/// A job of a context that ends, and what is called if it never runs.
private struct EndingJob: Sendable {
    var work: Work?
    var refused: (@Sendable (Refusal) -> Void)?

    var source: JobSource { if let work { JobSource(of: work) } else { .unknown } }

    /// Moves the job out, so that no frame of the submitter keeps its captures (law 10).
    mutating func take() -> EndingJob {
        var taken = EndingJob()
        swap(&self, &taken)
        return taken
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

/// The future state of a shutdown. It and the context refer to each other until that has ended.
private final class EndingState: FutureState, @unchecked Sendable {
    // Unchecked because its superclass is; it adds constants only.
    private let context: EndingSerialContext

    init(of context: EndingSerialContext) {
        self.context = context
        super.init()
    }

    override var obstacle: String? {
        guard context.isCurrent == true, !context.hasBudget else { return nil }
        return "it completes when no job of '\(context.name)' is left, and the caller is one"
    }

    override var label: String { "the shutdown of '\(context.name)'" }
}
