/// Tells an observer of each piece.
struct Observing: Attendant {
    let observer: any ContextObserver
    private let numbers = ObservedNumbers()

    init(_ observer: any ContextObserver) { self.observer = observer }

    func begin(in context: String, by time: any TimeSource) -> ObservedTurn {
        let piece = ObservedWork(
            id: numbers.next(), view: numbers.view, context: context, enqueued: time.now,
            origin: time.origin, submitter: ObservedTurn.running)
        return ObservedTurn(piece, in: time, observer: observer)
    }
}

extension ObservedTurn: AttendedTurn {}

extension ExecutionContext {
    /// This context, with an observer that is told what is submitted, started and finished.
    public func observed(by observer: some ContextObserver) -> some ExecutionContext {
        Attended(base: self, attendant: Observing(observer))
    }
}

extension BarrierContext {
    /// This context, with an observer that is told what is submitted, started and finished.
    public func observed(by observer: some ContextObserver) -> some BarrierContext {
        Attended(base: self, attendant: Observing(observer))
    }
}

extension SerialContext {
    /// This context, with an observer that is told what is submitted, started and finished.
    public func observed(by observer: some ContextObserver) -> some SerialContext {
        Attended(base: self, attendant: Observing(observer))
    }
}

extension ActorBackingContext {
    /// This context, with an observer that is told what is submitted, started and finished.
    public func observed(by observer: some ContextObserver) -> some ActorBackingContext {
        Attended(base: self, attendant: Observing(observer))
    }
}
