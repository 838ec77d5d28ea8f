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
        let piece = begin()
        return {
            let start = starting(piece)
            work()
            finishing(piece, start)
        }
    }

    // Work that a waiting thread took over leaves an empty turn to be observed.
    var runsAnywhere: Bool { base.runsAnywhere }

    private func begin() -> ObservedWork {
        let piece = ObservedWork(id: ids.next(), context: name, enqueued: time.now)
        observer.enqueued(piece)
        return piece
    }

    private func starting(_ piece: ObservedWork) -> Moment {
        let start = time.now
        observer.started(piece, waited: piece.enqueued.duration(to: start))
        return start
    }

    private func finishing(_ piece: ObservedWork, _ start: Moment) {
        observer.finished(
            piece, waited: piece.enqueued.duration(to: start), ran: start.duration(to: time.now))
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
extension Observed: SynchronousContext where Base: SynchronousContext {
    func sync<Value, Failure: Error>(
        _ body: () throws(Failure) -> Value
    ) throws(Failure) -> Value {
        let piece = begin()
        return try base.sync { () throws(Failure) -> Value in
            let start = starting(piece)
            defer { finishing(piece, start) }
            return try body()
        }
    }
}
extension Observed: SynchronousBarrierContext where Base: SynchronousBarrierContext {
    func syncBarrier<Value, Failure: Error>(
        _ body: () throws(Failure) -> Value
    ) throws(Failure) -> Value {
        let piece = begin()
        return try base.syncBarrier { () throws(Failure) -> Value in
            let start = starting(piece)
            defer { finishing(piece, start) }
            return try body()
        }
    }

    func hold() -> ExclusiveHold {
        let piece = begin()
        let hold = base.hold()
        let start = starting(piece)
        return hold.then { finishing(piece, start) }
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
