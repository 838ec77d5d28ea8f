internal import Synchronization

/// A context whose work an observer follows.
struct Observed<Base: ExecutionContext>: ContextDecorator {
    let base: Base
    let observer: any ContextObserver
    private let ids = Sequence()

    init(base: Base, observer: any ContextObserver) {
        self.base = base
        self.observer = observer
    }

    func decorate(_ work: @escaping Work) -> Work {
        let time = base.time
        let piece = ObservedWork(id: ids.next(), context: name, enqueued: time.now)
        observer.enqueued(piece)
        return { [observer] in
            let start = time.now
            let waited = piece.enqueued.duration(to: start)
            observer.started(piece, waited: waited)
            work()
            observer.finished(piece, waited: waited, ran: start.duration(to: time.now))
        }
    }
}

/// Numbers from 1, each given once.
private final class Sequence: Sendable {
    private let last = Atomic<UInt64>(0)

    // Relaxed: the numbers order nothing, they only differ.
    func next() -> UInt64 { last.add(1, ordering: .relaxed).newValue }
}

extension Observed: BarrierContext where Base: BarrierContext {}
extension Observed: SerialContext where Base: SerialContext {}
extension Observed: RefusingContext where Base: RefusingContext {}

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
