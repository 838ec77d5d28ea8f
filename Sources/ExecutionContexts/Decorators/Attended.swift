/// A context each of whose pieces is attended to: from its submission through its start to its end.
///
/// It is what `observed` and `watched` have in common.
struct Attended<Base: ExecutionContext, Watcher: Attendant>: ContextDecorator {
    let base: Base
    let attendant: Watcher

    func decorate(_ work: @escaping Work) -> Work {
        let turn = begin()
        return { turn.run(work) }
    }

    // Work that a waiting thread took over leaves an empty turn to be attended to.
    var runsAnywhere: Bool { base.runsAnywhere }

    private func begin() -> Watcher.Turn { attendant.begin(in: name, by: time) }
}

/// Somebody to whom the pieces of a context matter.
protocol Attendant: Sendable {
    associatedtype Turn: AttendedTurn
    /// A piece has been submitted to the context of that name and time.
    func begin(in context: String, by time: any TimeSource) -> Turn
}

/// One piece under way. A context that loses work lets go of it.
protocol AttendedTurn: Sendable {
    associatedtype Start: Sendable
    /// It is about to run.
    func started() -> Start
    /// It has run.
    func ended(_ start: Start)
    /// Runs `body` as this piece.
    func run<Value, Failure: Error>(_ body: () throws(Failure) -> Value) throws(Failure) -> Value
}

extension Attended: BarrierContext where Base: BarrierContext {}
extension Attended: SerialContext where Base: SerialContext {}
extension Attended: ActorBackingContext where Base: ActorBackingContext {}
extension Attended: RefusingContext where Base: RefusingContext {}
extension Attended: SynchronousContext where Base: SynchronousContext {
    func sync<Value, Failure: Error>(
        _ body: () throws(Failure) -> Value
    ) throws(Failure) -> Value {
        let turn = begin()
        return try base.sync { () throws(Failure) -> Value in try turn.run(body) }
    }
}
extension Attended: SynchronousBarrierContext where Base: SynchronousBarrierContext {
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
