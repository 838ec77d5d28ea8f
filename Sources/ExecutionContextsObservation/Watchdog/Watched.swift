public import ExecutionContexts

/// A view whose jobs are watched by a monitor.
@usableFromInline
struct Watched<Base: ExecutionContext>: PlainView, SourceTaking {
    @usableFromInline let base: Base
    private let view: WatchedView

    @usableFromInline
    init(
        base: Base, limit: Duration, on reporting: some ExecutionContext,
        from location: (fileID: StaticString, line: UInt),
        report: @escaping @Sendable (StalledJob) -> Void
    ) {
        self.base = base
        view = WatchedView(
            of: base,
            by: StallMonitor(
                of: base.name, isSerial: base is any SerialContext, limit: limit, on: reporting,
                from: location, report: report))
    }

    @usableFromInline
    func decorate(_ work: @escaping Work) -> Work { view.decorate(work) }

    @usableFromInline
    func execute(_ work: consuming @escaping Work) { view.execute(consume work) }

    @usableFromInline
    func enqueue(_ work: consuming @escaping Work) { view.enqueue(consume work) }

    // For a job that a waiting thread took over, the monitor sees an empty job.
    @usableFromInline
    var runsAnywhere: Bool { base.runsAnywhere }
}

extension Watched: BarrierContext where Base: BarrierContext {}
extension Watched: SerialContext where Base: SerialContext {}
extension Watched: MainActorContext where Base: MainActorContext {}
extension Watched: ActorBackingContext where Base: ActorBackingContext {}
extension Watched: RefusingContext where Base: RefusingContext {}
extension Watched: SynchronousContext where Base: SynchronousContext {
    @usableFromInline
    func sync<Value, Failure: Error>(
        _ body: () throws(Failure) -> Value
    ) throws(Failure) -> Value {
        let job = view.begin(JobSource.takeOfSync(body))
        return try base.sync { () throws(Failure) -> Value in try job.run(body) }
    }
}
extension Watched: SynchronousBarrierContext where Base: SynchronousBarrierContext {
    @usableFromInline
    func syncBarrier<Value, Failure: Error>(
        _ body: () throws(Failure) -> Value
    ) throws(Failure) -> Value {
        let job = view.begin(JobSource.takeOfSync(body))
        return try base.syncBarrier { () throws(Failure) -> Value in try job.run(body) }
    }

    @usableFromInline
    func hold() -> ExclusiveHold {
        let job = view.begin(JobSource(.unknown, label: "hold"))
        let hold = base.hold()
        job.started()
        return hold.then { job.ended() }
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
    /// Each cause is reported once, while it lasts. A job that runs for too long is one. The jobs
    /// that wait for too long have one in common, until none of them waits any more: the first of
    /// them is reported, with the job in front. A job that exceeds the limit and ends or starts
    /// before the report can be made is not reported.
    ///
    /// The report is made on `reporting`, by default the global context, when the limit has passed
    /// in the time of this context. Pass a context that a stall of this one does not stall as well.
    /// A limit that is not above zero traps with a message.
    ///
    /// All jobs share one delay, and memory is proportional to the number of unfinished jobs. In
    /// system time the delay may outlast the last job, by the limit at most; in virtual time it is
    /// cancelled with it. It goes with the view at the latest.
    @inlinable
    public func watched(
        limit: Duration, on reporting: some ExecutionContext = GlobalContext(),
        fileID: StaticString = #fileID, line: UInt = #line,
        report: @escaping @Sendable (StalledJob) -> Void
    ) -> some ExecutionContext {
        Watched(base: self, limit: limit, on: reporting, from: (fileID, line), report: report)
    }
}

extension BarrierContext {
    /// Returns a view of this context that reports jobs that wait or run for more than `limit`.
    ///
    /// A job that waits for a barrier to end is waiting, and so is a barrier that waits for other
    /// jobs.
    @inlinable
    public func watched(
        limit: Duration, on reporting: some ExecutionContext = GlobalContext(),
        fileID: StaticString = #fileID, line: UInt = #line,
        report: @escaping @Sendable (StalledJob) -> Void
    ) -> some BarrierContext {
        Watched(base: self, limit: limit, on: reporting, from: (fileID, line), report: report)
    }
}

extension SerialContext {
    /// Returns a view of this context that reports jobs that wait or run for more than `limit`.
    ///
    /// If one job occupies the context for long, it is reported as running, and those behind are
    /// counted. Jobs that wait are reported if no job does: they are too many, or the context is
    /// occupied by a job that is not of this view.
    @inlinable
    public func watched(
        limit: Duration, on reporting: some ExecutionContext = GlobalContext(),
        fileID: StaticString = #fileID, line: UInt = #line,
        report: @escaping @Sendable (StalledJob) -> Void
    ) -> some SerialContext {
        Watched(base: self, limit: limit, on: reporting, from: (fileID, line), report: report)
    }
}

extension ActorBackingContext {
    /// Returns a view of this context that reports jobs that wait or run for more than `limit`.
    ///
    /// If one job occupies the context for long, it is reported as running, and those behind are
    /// counted. Jobs that wait are reported if no job does: they are too many, or the context is
    /// occupied by a job that is not of this view.
    @inlinable
    public func watched(
        limit: Duration, on reporting: some ExecutionContext = GlobalContext(),
        fileID: StaticString = #fileID, line: UInt = #line,
        report: @escaping @Sendable (StalledJob) -> Void
    ) -> some ActorBackingContext {
        Watched(base: self, limit: limit, on: reporting, from: (fileID, line), report: report)
    }
}

extension MainActorContext {
    /// Returns a view of this context that reports jobs that wait or run for more than `limit`.
    ///
    /// If one job occupies the context for long, it is reported as running, and those behind are
    /// counted. Jobs that wait are reported if no job does: they are too many, or the context is
    /// occupied by a job that is not of this view.
    @inlinable
    public func watched(
        limit: Duration, on reporting: some ExecutionContext = GlobalContext(),
        fileID: StaticString = #fileID, line: UInt = #line,
        report: @escaping @Sendable (StalledJob) -> Void
    ) -> some MainActorContext {
        Watched(base: self, limit: limit, on: reporting, from: (fileID, line), report: report)
    }
}

extension MainActorContext where Self: ActorBackingContext {
    /// Returns a view of this context that reports jobs that wait or run for more than `limit`.
    ///
    /// If one job occupies the context for long, it is reported as running, and those behind are
    /// counted. Jobs that wait are reported if no job does: they are too many, or the context is
    /// occupied by a job that is not of this view.
    @inlinable
    public func watched(
        limit: Duration, on reporting: some ExecutionContext = GlobalContext(),
        fileID: StaticString = #fileID, line: UInt = #line,
        report: @escaping @Sendable (StalledJob) -> Void
    ) -> some MainActorContext & ActorBackingContext {
        Watched(base: self, limit: limit, on: reporting, from: (fileID, line), report: report)
    }
}
