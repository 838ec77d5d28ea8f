/// A view that reports submission, start and end of each job to an observer.
@usableFromInline
struct Observed<Base: ExecutionContext>: SourceTaking {
    @usableFromInline
    let base: Base
    private let view: ObservedView

    @usableFromInline
    init(_ base: Base, by observer: some ContextObserver) {
        self.base = base
        view = ObservedView(of: base, by: observer)
    }

    @usableFromInline
    func decorate(_ work: @escaping Work) -> Work { view.decorate(work) }

    @usableFromInline
    func execute(_ work: consuming @escaping Work) { view.execute(consume work) }

    @usableFromInline
    func enqueue(_ work: consuming @escaping Work) { view.enqueue(consume work) }

    @usableFromInline
    var name: String { view.name }

    // For a job that a waiting thread took over, the observer sees an empty job.
    @usableFromInline
    var runsAnywhere: Bool { base.runsAnywhere }
}

// An observer is notified of the job that an inline job is a part of.
extension Observed: PlainView {}

extension Observed: BarrierContext where Base: BarrierContext {}
extension Observed: SerialContext where Base: SerialContext {}
extension Observed: MainActorContext where Base: MainActorContext {}
extension Observed: ActorBackingContext where Base: ActorBackingContext {}
extension Observed: RefusingContext where Base: RefusingContext {}
extension Observed: SynchronousContext where Base: SynchronousContext {
    @usableFromInline
    func sync<Value, Failure: Error>(
        _ body: () throws(Failure) -> Value
    ) throws(Failure) -> Value {
        let source = JobSource.takeOfSync(body)
        guard view.isEnabled else { return try base.sync(body) }
        let job = view.begin(source)
        return try base.sync { () throws(Failure) -> Value in try job.run(body) }
    }
}
extension Observed: SynchronousBarrierContext where Base: SynchronousBarrierContext {
    @usableFromInline
    func syncBarrier<Value, Failure: Error>(
        _ body: () throws(Failure) -> Value
    ) throws(Failure) -> Value {
        let source = JobSource.takeOfSync(body)
        guard view.isEnabled else { return try base.syncBarrier(body) }
        let job = view.begin(source)
        return try base.syncBarrier { () throws(Failure) -> Value in try job.run(body) }
    }

    @usableFromInline
    func hold() -> ExclusiveHold {
        guard view.isEnabled else { return base.hold() }
        let job = view.begin(JobSource(.unknown, label: "hold"))
        let hold = base.hold()
        let start = job.started()
        return hold.then { job.ended(start) }
    }
}

extension ExecutionContext {
    /// Returns a view of this context that reports submission, start and end of each job to
    /// `observer`.
    @inlinable
    public func observed(by observer: some ContextObserver) -> some ExecutionContext {
        Observed(self, by: observer)
    }
}

extension BarrierContext {
    /// Returns a view of this context that reports submission, start and end of each job to
    /// `observer`.
    @inlinable
    public func observed(by observer: some ContextObserver) -> some BarrierContext {
        Observed(self, by: observer)
    }
}

extension SerialContext {
    /// Returns a view of this context that reports submission, start and end of each job to
    /// `observer`.
    @inlinable
    public func observed(by observer: some ContextObserver) -> some SerialContext {
        Observed(self, by: observer)
    }
}

extension ActorBackingContext {
    /// Returns a view of this context that reports submission, start and end of each job to
    /// `observer`.
    @inlinable
    public func observed(by observer: some ContextObserver) -> some ActorBackingContext {
        Observed(self, by: observer)
    }
}

extension MainActorContext {
    /// Returns a view of this context that reports submission, start and end of each job to
    /// `observer`.
    @inlinable
    public func observed(by observer: some ContextObserver) -> some MainActorContext {
        Observed(self, by: observer)
    }
}

extension MainActorContext where Self: ActorBackingContext {
    /// Returns a view of this context that reports submission, start and end of each job to
    /// `observer`.
    @inlinable
    public func observed(by observer: some ContextObserver) -> some MainActorContext
        & ActorBackingContext
    {
        Observed(self, by: observer)
    }
}
