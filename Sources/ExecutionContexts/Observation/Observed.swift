/// A view that reports submission, start and end of each job to an observer.
struct Observed<Base: ExecutionContext>: ContextDecorator {
    let base: Base
    private let observer: any ContextObserver
    private let numbers = ObservedNumbers()

    init(_ base: Base, by observer: any ContextObserver) {
        self.base = base
        self.observer = observer
    }

    func decorate(_ work: @escaping Work) -> Work {
        let job = begin()
        return { job.run(work) }
    }

    // For a job that a waiting thread took over, the observer sees an empty job.
    var runsAnywhere: Bool { base.runsAnywhere }

    private func begin() -> ObservedJob {
        let time = time
        let job = ObservedWork(
            id: numbers.next(), view: numbers.view, context: name, enqueued: time.now,
            timeSource: time.identity, submitter: ObservedJob.running)
        return ObservedJob(job, in: time, observer: observer)
    }
}

// An observer is notified of the job that an inline job is a part of.
extension Observed: PlainView {}

extension Observed: BarrierContext where Base: BarrierContext {}
extension Observed: SerialContext where Base: SerialContext {}
extension Observed: ActorBackingContext where Base: ActorBackingContext {}
extension Observed: RefusingContext where Base: RefusingContext {}
extension Observed: SynchronousContext where Base: SynchronousContext {
    func sync<Value, Failure: Error>(
        _ body: () throws(Failure) -> Value
    ) throws(Failure) -> Value {
        let job = begin()
        return try base.sync { () throws(Failure) -> Value in try job.run(body) }
    }
}
extension Observed: SynchronousBarrierContext where Base: SynchronousBarrierContext {
    func syncBarrier<Value, Failure: Error>(
        _ body: () throws(Failure) -> Value
    ) throws(Failure) -> Value {
        let job = begin()
        return try base.syncBarrier { () throws(Failure) -> Value in try job.run(body) }
    }

    func hold() -> ExclusiveHold {
        let job = begin()
        let hold = base.hold()
        let start = job.started()
        return hold.then { job.ended(start) }
    }
}

extension ExecutionContext {
    /// Returns a view of this context that reports submission, start and end of each job to
    /// `observer`.
    public func observed(by observer: some ContextObserver) -> some ExecutionContext {
        Observed(self, by: observer)
    }
}

extension BarrierContext {
    /// Returns a view of this context that reports submission, start and end of each job to
    /// `observer`.
    public func observed(by observer: some ContextObserver) -> some BarrierContext {
        Observed(self, by: observer)
    }
}

extension SerialContext {
    /// Returns a view of this context that reports submission, start and end of each job to
    /// `observer`.
    public func observed(by observer: some ContextObserver) -> some SerialContext {
        Observed(self, by: observer)
    }
}

extension ActorBackingContext {
    /// Returns a view of this context that reports submission, start and end of each job to
    /// `observer`.
    public func observed(by observer: some ContextObserver) -> some ActorBackingContext {
        Observed(self, by: observer)
    }
}
