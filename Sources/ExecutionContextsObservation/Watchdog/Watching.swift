public import ExecutionContexts

/// An addition that watches the jobs of a view with a monitor.
public struct Watching: HoldableAddition {
    private let watch: @Sendable (any ExecutionContext) -> WatchedView
    /// Nil until it is attached to a base.
    private let view: WatchedView?

    /// Creates the addition; the parameters are those of `watched(limit:on:report:)`.
    public init(
        limit: Duration, on reporting: some ExecutionContext = GlobalContext(),
        fileID: StaticString = #fileID, line: UInt = #line,
        report: @escaping @Sendable (StalledJob) -> Void
    ) {
        watch = { base in
            WatchedView(
                of: base,
                by: StallMonitor(
                    of: base.name, isSerial: base is any SerialContext, limit: limit, on: reporting,
                    from: CodePlace(fileID, line), report: report))
        }
        view = nil
    }

    private init(
        _ watch: @escaping @Sendable (any ExecutionContext) -> WatchedView,
        _ base: some ExecutionContext
    ) {
        self.watch = watch
        view = watch(base)
    }

    public func attached(to base: some ExecutionContext) -> Watching { Watching(watch, base) }

    public func decorate(_ work: @escaping Work) -> Work {
        guard let view else { return work }
        return view.decorate(work)
    }

    public func sync<Value, Failure: Error>(
        _ body: () throws(Failure) -> Value, on base: some SynchronousContext
    ) throws(Failure) -> Value {
        let source = JobSource.takeOfSync(body)
        guard let job = view?.begin(source) else { return try base.sync(body) }
        return try source.passing(to: base) { () throws(Failure) -> Value in
            try base.sync { () throws(Failure) -> Value in try job.run(body) }
        }
    }

    public func hold(_ base: some SynchronousBarrierContext) -> ExclusiveHold {
        guard let job = view?.begin(JobSource(.unknown, label: "hold")) else { return base.hold() }
        let hold = base.hold()
        job.started()
        return hold.then { job.ended() }
    }

    // For a job that a waiting thread took over, the monitor sees an empty job.
    public var runsAnywhere: Bool { true }

    public var facts: AdditionFacts {
        var facts = AdditionFacts.plain
        facts.readsSource = true
        if let view { facts.report = { view.begin($0).run($1) } }
        return facts
    }
}

extension ExecutionContext {
    /// Returns a view of this context that reports jobs that wait or run for more than `limit`.
    ///
    /// ```swift
    /// let queue = GlobalContext().serial(named: "database")
    /// let database = queue.watched(limit: .seconds(1)) { stall in print(stall) }
    /// ```
    ///
    /// Each cause is reported once, while it lasts. A job that runs for too long is a cause. The
    /// jobs that wait for too long share one, until none of them waits any more: the first of them
    /// is reported, with the job in front. A job that exceeds the limit but ends or starts before
    /// the report can be made is not reported.
    ///
    /// The report is made on `reporting`, by default the global context, when the limit has passed
    /// in the time of this context. Pass a context that does not stall together with this one. A
    /// limit that is not above zero traps with a message.
    ///
    /// All jobs share one delay, and memory is proportional to the number of unfinished jobs. In
    /// system time the delay may outlast the last job, by the limit at most; in virtual time it is
    /// cancelled with it. At the latest, it is cancelled with the view.
    ///
    /// On a serial context, a job that occupies it for long is reported as running, and the jobs
    /// behind it are counted. Waiting jobs are reported if no job occupies it for long: they are
    /// too many, or the context is occupied by a job that is not of this view. A job that waits for
    /// a barrier to end is waiting, and so is a barrier that waits for other jobs.
    public func watched(
        limit: Duration, on reporting: some ExecutionContext = GlobalContext(),
        fileID: StaticString = #fileID, line: UInt = #line,
        report: @escaping @Sendable (StalledJob) -> Void
    ) -> ContextView<Self, Watching> {
        with(Watching(limit: limit, on: reporting, fileID: fileID, line: line, report: report))
    }
}
