/// Reports submission, start and end of each job of a view to an observer.
///
/// Its name is not that of a module: `@Observable` names the module `Observation` in the code that
/// it makes.
public struct Observing: HoldableAddition {
    private let observer: any ContextObserver
    /// Nil until it is attached to a base.
    private let view: ObservedView?

    init(by observer: some ContextObserver) {
        self.observer = observer
        view = nil
    }

    private init(of base: some ExecutionContext, by observer: any ContextObserver) {
        self.observer = observer
        view = ObservedView(of: base, by: observer)
    }

    public func attached(to base: some ExecutionContext) -> Observing {
        Observing(of: base, by: observer)
    }

    public func decorate(_ work: @escaping Work) -> Work {
        guard let view else { return work }
        return view.decorate(work)
    }

    public func name(of base: String) -> String { view?.name ?? base }

    public func sync<Value, Failure: Error>(
        _ body: () throws(Failure) -> Value, on base: some SynchronousContext
    ) throws(Failure) -> Value {
        let source = JobSource.takeOfSync(body)
        guard let view, view.isEnabled else { return try base.sync(body) }
        let job = view.begin(source)
        return try source.passing(to: base) { () throws(Failure) -> Value in
            try base.sync { () throws(Failure) -> Value in try job.run(body) }
        }
    }

    public func hold(_ base: some SynchronousBarrierContext) -> ExclusiveHold {
        guard let view, view.isEnabled else { return base.hold() }
        let job = view.begin(JobSource(.unknown, label: "hold"))
        let hold = base.hold()
        let start = job.started()
        return hold.then { job.ended(start) }
    }

    // For a job that a waiting thread took over, the observer sees an empty job.
    public var runsAnywhere: Bool { true }

    public var facts: AdditionFacts {
        // An observer is notified of the job that an inline job is a part of.
        var facts = AdditionFacts.plain
        facts.readsSource = true
        if let view {
            facts.report = { source, body in
                if view.isEnabled { view.begin(source).run(body) } else { body() }
            }
        }
        return facts
    }
}

extension ContextAddition where Self == Observing {
    /// An observer that is notified of submission, start and end of each job of the context.
    public static func observed(by observer: some ContextObserver) -> Observing {
        Observing(by: observer)
    }
}

extension ExecutionContext {
    /// Returns a view of this context that reports submission, start and end of each job to
    /// `observer`.
    ///
    /// The waiting time of a job of `sync` is the time from the call until its body begins. Code
    /// that uses the context itself is not observed.
    public func observed(by observer: some ContextObserver) -> ContextView<Self, Observing> {
        with(.observed(by: observer))
    }
}
