internal import ExecutionContexts

/// A record of concurrent operations: the caller, the beginning, the end and the answer of each.
///
/// Threads and tasks record their operations. Then `expectLinearizable` looks for a sequential
/// order of the operations that a sequential model explains:
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
///             history.record(.write(index)) { register.mutate { $0 = index } }
///             history.record(.read) { register.read { $0 } }
///         }
///     }
///     sim.expectLinearizable(history)
/// }
/// ```
///
/// It works with real threads and in a simulation, where the beginning of an operation is a
/// scheduling point. Any thread may record at any time. Recording creates no order that the thread
/// sanitizer sees.
public final class History<Model: SequentialModel>: Sendable {
    let model: Model
    private let log = Locked(HistoryLog<Model>())

    /// Creates an empty history of the structure that `model` describes. `model` is its initial
    /// state.
    public init(of model: Model) { self.model = model }

    /// Records an operation that `body` performs, and returns its answer.
    ///
    /// If `body` throws, it is unknown whether the operation took effect, so it counts as one that
    /// has not returned. To avoid that, make the error an answer.
    ///
    /// - Parameters:
    ///   - operation: the operation, in terms of the model.
    ///   - caller: the name of the caller in messages; by default the thread or the task.
    ///   - body: performs the operation.
    @discardableResult
    public func record<Failure: Error>(
        _ operation: Model.Operation, by caller: String? = nil,
        _ body: () throws(Failure) -> Model.Answer
    ) throws(Failure) -> Model.Answer {
        let call = begin(operation, by: caller)
        let answer = try body()
        call.end(answer)
        return answer
    }

    /// Records an operation without an answer; the answer is nil.
    @_disfavoredOverload
    public func record<Failure: Error, Value>(
        _ operation: Model.Operation, by caller: String? = nil, _ body: () throws(Failure) -> Void
    ) throws(Failure) where Model.Answer == Value? {
        let call = begin(operation, by: caller)
        try body()
        call.end(nil)
    }

    /// Records an operation that `body` performs asynchronously, like `record`.
    @discardableResult
    public func recordAsync<Failure: Error>(
        _ operation: Model.Operation, by caller: String? = nil,
        isolation: isolated (any Actor)? = #isolation,
        _ body: () async throws(Failure) -> Model.Answer
    ) async throws(Failure) -> Model.Answer {
        let call = begin(operation, by: caller)
        let answer = try await body()
        call.end(answer)
        return answer
    }

    /// Records an asynchronous operation without an answer; the answer is nil.
    @_disfavoredOverload
    public func recordAsync<Failure: Error, Value>(
        _ operation: Model.Operation, by caller: String? = nil,
        isolation: isolated (any Actor)? = #isolation, _ body: () async throws(Failure) -> Void
    ) async throws(Failure) where Model.Answer == Value? {
        let call = begin(operation, by: caller)
        try await body()
        call.end(nil)
    }

    /// Records the beginning of an operation that ends elsewhere: in a callback, or never.
    public func begin(_ operation: Model.Operation, by caller: String? = nil) -> Call {
        // First, so that the sanitizer sees it: a thread without a number gets one here, perhaps
        // the number of an ended thread.
        let caller = caller.map(HistoryCaller.named) ?? .current
        HiddenFromSanitizer.begin()
        defer { HiddenFromSanitizer.end() }
        if let host = HostThread.current, let thread = host.thread, let scheduler = host.scheduler,
            scheduler.phase != .checking
        {
            scheduler.point(thread)
            scheduler.log?.add(.writes, Word(of: self))
            // An operation that begins after the end of another one is ordered after it.
            scheduler.memory?.use(.acquires, Word(of: self), by: thread.id)
            scheduler.trace?.add(thread) { "begins \(operation)" }
        }
        let number = log.withLock { $0.begin(operation, by: caller) }
        return Call(history: self, number: number, operation: operation)
    }

    /// An operation that has begun.
    public struct Call: Sendable {
        fileprivate let history: History
        fileprivate let number: Int
        fileprivate let operation: Model.Operation

        /// Records the end of the operation, and its answer. A second end traps.
        public func end(_ answer: Model.Answer) {
            HiddenFromSanitizer.begin()
            if let scheduler = HostThread.current?.scheduler, let thread = scheduler.caller {
                scheduler.log?.add(.writes, Word(of: history))
                scheduler.memory?.use(.releases, Word(of: history), by: thread.id)
                scheduler.trace?.add(thread) { "\(operation) = \(plain(answer))" }
            }
            let isFirst = history.log.withLock { $0.end(number, answer) }
            HiddenFromSanitizer.end()
            require(
                isFirst,
                "An operation of a history ended twice. End each call once, and begin another call for a repetition."
            )
        }
    }

    /// The recorded operations, in the order in which they began.
    var calls: [RecordedCall<Model>] {
        HiddenFromSanitizer.begin()
        defer { HiddenFromSanitizer.end() }
        return log.withLock { $0.calls }
    }
}
