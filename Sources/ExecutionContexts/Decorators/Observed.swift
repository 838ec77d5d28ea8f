/// Reports each job to an observer.
struct Observing: Interceptor {
    let observer: any ContextObserver
    private let numbers = ObservedNumbers()

    init(_ observer: any ContextObserver) { self.observer = observer }

    func begin(in context: String, by time: any TimeSource) -> ObservedJob {
        let job = ObservedWork(
            id: numbers.next(), view: numbers.view, context: context, enqueued: time.now,
            origin: time.origin, submitter: ObservedJob.running)
        return ObservedJob(job, in: time, observer: observer)
    }
}

extension ObservedJob: InterceptedJob {}

extension ExecutionContext {
    /// Returns a view of this context that reports submission, start and end of each job to
    /// `observer`.
    public func observed(by observer: some ContextObserver) -> some ExecutionContext {
        Intercepted(base: self, interceptor: Observing(observer))
    }
}

extension BarrierContext {
    /// Returns a view of this context that reports submission, start and end of each job to
    /// `observer`.
    public func observed(by observer: some ContextObserver) -> some BarrierContext {
        Intercepted(base: self, interceptor: Observing(observer))
    }
}

extension SerialContext {
    /// Returns a view of this context that reports submission, start and end of each job to
    /// `observer`.
    public func observed(by observer: some ContextObserver) -> some SerialContext {
        Intercepted(base: self, interceptor: Observing(observer))
    }
}

extension ActorBackingContext {
    /// Returns a view of this context that reports submission, start and end of each job to
    /// `observer`.
    public func observed(by observer: some ContextObserver) -> some ActorBackingContext {
        Intercepted(base: self, interceptor: Observing(observer))
    }
}
