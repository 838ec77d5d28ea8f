/// A context whose work an observer follows.
struct Observed<Base: ExecutionContext>: ContextDecorator {
    let base: Base
    let observer: any ContextObserver
    private let numbers = ObservedNumbers()

    init(base: Base, observer: any ContextObserver) {
        self.base = base
        self.observer = observer
    }

    func decorate(_ work: @escaping Work) -> Work {
        let turn = begin()
        return { turn.run(work) }
    }

    // Work that a waiting thread took over leaves an empty turn to be observed.
    var runsAnywhere: Bool { base.runsAnywhere }

    private func begin() -> ObservedTurn {
        let time = self.time
        let piece = ObservedWork(
            id: numbers.next(), view: numbers.view, context: name, enqueued: time.now,
            origin: time.origin, submitter: ObservedTurn.running)
        return ObservedTurn(piece, in: time, observer: observer)
    }
}

extension Observed: BarrierContext where Base: BarrierContext {}
extension Observed: SerialContext where Base: SerialContext {}
extension Observed: RefusingContext where Base: RefusingContext {}
extension Observed: SynchronousContext where Base: SynchronousContext {
    func sync<Value, Failure: Error>(
        _ body: () throws(Failure) -> Value
    ) throws(Failure) -> Value {
        let turn = begin()
        return try base.sync { () throws(Failure) -> Value in try turn.run(body) }
    }
}
extension Observed: SynchronousBarrierContext where Base: SynchronousBarrierContext {
    func syncBarrier<Value, Failure: Error>(
        _ body: () throws(Failure) -> Value
    ) throws(Failure) -> Value {
        let turn = begin()
        return try base.syncBarrier { () throws(Failure) -> Value in try turn.run(body) }
    }

    func hold() -> ExclusiveHold {
        let turn = begin()
        let hold = base.hold()
        let start = turn.started()
        return hold.then { turn.ended(start) }
    }
}

extension ExecutionContext {
    /// This context, with an observer that is told what is submitted, started and finished.
    public func observed(by observer: some ContextObserver) -> some ExecutionContext {
        Observed(base: self, observer: observer)
    }
}

extension BarrierContext {
    /// This context, with an observer that is told what is submitted, started and finished.
    public func observed(by observer: some ContextObserver) -> some BarrierContext {
        Observed(base: self, observer: observer)
    }
}

extension SerialContext {
    /// This context, with an observer that is told what is submitted, started and finished.
    public func observed(by observer: some ContextObserver) -> some SerialContext {
        Observed(base: self, observer: observer)
    }
}
