internal import ExecutionContexts

/// A record of operations on something concurrent: who did what, when it began and ended, and what came back.
///
/// Threads and tasks record what they do; then `expectLinearizable` looks for an order of the operations, one at a time, that
/// a sequential model explains:
///
/// ```swift
/// struct Register: SequentialModel, Hashable {
///     enum Operation: Sendable { case read, write(Int) }
///     private var value = 0
///     init() {}
///     mutating func apply(_ operation: Operation) -> Int? {
///         guard case .write(let new) = operation else { return value }
///         value = new
///         return nil
///     }
/// }
///
/// try simulate("register") { sim in
///     let register = LockedResource(0, lockedBy: .section)
///     let history = History(of: Register())
///     for (index, name) in ["alice", "bob"].enumerated() {
///         sim.spawn(name) {
///             history.record(.write(index)) { register.write { $0 = index } }
///             history.record(.read) { register.read { $0 } }
///         }
///     }
///     sim.expectLinearizable(history)
/// }
/// ```
///
/// It is used alike by real threads and in a simulation, where the begin of an operation is a point at which the turn may
/// change. Any thread may record at any time. Recording orders nothing that the thread sanitizer sees.
public final class History<Model: SequentialModel>: Sendable {
    let model: Model
    private let log = Locked(HistoryLog<Model>())

    /// Makes an empty history of what `model` describes, which says what came before: mostly nothing.
    public init(of model: Model) { self.model = model }

    /// Records an operation that `body` carries out, and returns its answer.
    ///
    /// Where `body` throws, nobody knows whether the operation took effect: it counts as one that has not returned. Where
    /// that is not meant, make the error an answer.
    ///
    /// - Parameters:
    ///   - operation: what is done, in the words of the model.
    ///   - caller: who does it, for people to read; by default the thread or the task.
    ///   - body: does it.
    @discardableResult
    public func record<Failure: Error>(
        _ operation: Model.Operation, by caller: String? = nil, _ body: () throws(Failure) -> Model.Answer
    ) throws(Failure) -> Model.Answer {
        let call = begin(operation, by: caller)
        let answer = try body()
        call.end(answer)
        return answer
    }

    /// Records an operation that answers nothing, as nil.
    @_disfavoredOverload
    public func record<Failure: Error, Value>(
        _ operation: Model.Operation, by caller: String? = nil, _ body: () throws(Failure) -> Void
    ) throws(Failure) where Model.Answer == Value? {
        let call = begin(operation, by: caller)
        try body()
        call.end(nil)
    }

    /// Records an operation that `body` awaits; otherwise as `record`.
    @discardableResult
    public func recordAsync<Failure: Error>(
        _ operation: Model.Operation, by caller: String? = nil,
        isolation: isolated (any Actor)? = #isolation, _ body: () async throws(Failure) -> Model.Answer
    ) async throws(Failure) -> Model.Answer {
        let call = begin(operation, by: caller)
        let answer = try await body()
        call.end(answer)
        return answer
    }

    /// Records an awaited operation that answers nothing, as nil.
    @_disfavoredOverload
    public func recordAsync<Failure: Error, Value>(
        _ operation: Model.Operation, by caller: String? = nil,
        isolation: isolated (any Actor)? = #isolation, _ body: () async throws(Failure) -> Void
    ) async throws(Failure) where Model.Answer == Value? {
        let call = begin(operation, by: caller)
        try await body()
        call.end(nil)
    }

    /// Records that an operation begins, for one whose end comes elsewhere: in a callback, or never.
    public func begin(_ operation: Model.Operation, by caller: String? = nil) -> Call {
        // First, and seen: a thread that has not been asked its number before gets one that another had.
        let caller = caller.map(HistoryCaller.named) ?? .current
        Unseen.begin()
        defer { Unseen.end() }
        if let thread = LaneThread.current, let lane = thread.lane, let stage = thread.stage,
            stage.phase != .asking
        {
            stage.point(lane)
        }
        return Call(history: self, number: log.withLock { $0.begin(operation, by: caller) })
    }

    /// An operation that has begun.
    public struct Call: Sendable {
        fileprivate let history: History
        fileprivate let number: Int

        /// Records that the operation has ended, and what it answered. A second end stops the program.
        public func end(_ answer: Model.Answer) {
            Unseen.begin()
            let isFirst = history.log.withLock { $0.end(number, answer) }
            Unseen.end()
            require(
                isFirst,
                "An operation of a history ended twice. End each call once; one that is done again is another call."
            )
        }
    }

    /// What has been recorded, in the order in which it began.
    var calls: [RecordedCall<Model>] {
        Unseen.begin()
        defer { Unseen.end() }
        return log.withLock { $0.calls }
    }
}
