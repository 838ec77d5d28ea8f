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
/// A job of an actor can neither fail nor be refused. If the base drops it, it runs on the global
/// context, in order all the same. So an actor that this context backs works to its own end (law
/// 13).
///
/// It has no thread: it is a serial view of its base that counts its jobs (law 11).
public final class EndingSerialContext: SerialContext, RefusingContext, SerialExecutor {
    private let core: EndingCore

    /// Makes a serial context over `base`.
    public init(on base: some ExecutionContext, named name: String? = nil) {
        core = EndingCore(on: base.serial(named: name), time: base.time)
    }

    public var name: String { core.view.name }

    public var time: any TimeSource { core.time }

    public var isCurrent: Bool? { core.view.isCurrent }

    public func checkIsCurrent() -> Bool { core.view.checkIsCurrent() }

    public var submissionTransform: (@Sendable (_ work: @escaping Work) -> Work)? {
        core.view.submissionTransform
    }

    /// Runs `work` in order; traps after the shutdown, since it can report no refusal.
    public func execute(_ work: consuming @escaping Work) {
        var job = EndingJob(work: consume work)
        if core.submit(&job) == nil { return }
        stopMisuse(
            "A job was submitted by execute to '\(name)', which has been shut down (law 1). "
                + "Use tryExecute, run or submit, which report the refusal.")
    }

    public func tryExecute(_ work: consuming @escaping Work) throws(Refusal) {
        try Deadline.ofCaller?.admit(by: name, from: nil)
        var job = EndingJob(work: consume work)
        if let refusal = core.submit(&job) { throw refusal }
    }

    public func execute(
        _ work: consuming @escaping Work, refused: consuming @escaping @Sendable (Refusal) -> Void
    ) {
        var job = EndingJob(work: consume work, refused: consume refused)
        if let refusal = core.submit(&job) { job.drop(refusal) }
    }

    public func enqueue(_ work: consuming @escaping Work) {
        var job = EndingJob(work: consume work)
        core.accept(&job)
    }

    /// Runs a job of an actor whose executor is this context, before the shutdown and after it.
    public func enqueue(_ job: consuming ExecutorJob) {
        core.view.submit(UnownedJob(job), of: self)
    }

    public func isIsolatingCurrentContext() -> Bool? { core.view.isIsolatingCurrentContext() }

    public func checkIsolated() { core.view.checkIsolated() }

    public var facts: ContextFacts {
        var facts = ContextFacts()
        facts.meansThread = core.view.jobsMeanThread
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
        core.shutDown(within: budget)
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
