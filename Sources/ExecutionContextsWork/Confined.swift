public import ExecutionContexts

/// A value that is touched on one serial context only, which its owner shares with others.
///
/// ```swift
/// final class Prefetcher: Sendable {
///     private let wanted: Confined<Set<String>>
///     init(on context: some SerialContext) { wanted = Confined([], to: context) }
///     func start(_ paths: [String]) { wanted.perform { wanted in wanted.formUnion(paths) } }
/// }
/// ```
///
/// It is how a component is an actor on a context that is given to it: a call from any thread is submitted there, in
/// order, and a call from the context itself is done on the spot where order allows (law 6). So components that
/// share one context call each other without a submission, and those that do not are as safe. A call from within
/// a call is done behind it, in the same piece of work: the value is never entered twice.
///
/// - The context is given once and never changed.
/// - Nothing is lost: what was submitted runs also when the owner is gone (law 10).
/// - The value goes with the last reference to this, on whichever thread lets go of it.
///
/// It is not for a caller that needs an answer before it goes on: take a `LockedResource`, or the actor of the language
/// where all callers are async.
public final class Confined<State>: @unchecked Sendable {
    // Unchecked: `state` is touched in turns on the context only, and that is a serial one.
    private var state: State
    private let turns: Turns

    /// Makes one that holds `state`, for calls on `context`.
    ///
    /// The context must keep what it accepts: one that drops its oldest work for newer work may drop a call.
    public init(_ state: sending State, to context: some SerialContext) {
        self.state = state
        turns = Turns(on: context)
    }

    /// The context that it was made with.
    public var context: any SerialContext { turns.context }

    /// Runs `body` with the value on the context, now or later, in the order of the calls (laws 2, 6).
    public func perform(_ body: @escaping @Sendable (_ state: inout State) -> Void) {
        turns.perform { body(&self.state) }
    }

    /// Runs `body` with the value on the context, and gives what it returns or throws as an `Async`.
    ///
    /// If the context refuses, the `Async` ends with the refusal (law 1). Cancelling it does not undo the call.
    @discardableResult
    public func submit<Value: Sendable>(
        fileID: StaticString = #fileID, line: UInt = #line,
        _ body: @escaping @Sendable (_ state: inout State) throws -> Value
    ) -> Async<Value> {
        let promise = Promise<Value>(fileID: fileID, line: line)
        turns.perform {
            promise.complete { try body(&self.state) }
        } refused: { refusal in
            promise.fail(refusal)
        }
        return promise.async
    }

    /// Runs `body` with the value on the context, and returns what it returns or throws when it has.
    ///
    /// A task that is cancelled while it waits goes on with `CancellationError`; the call is not undone.
    public nonisolated(nonsending) func run<Value: Sendable>(
        fileID: StaticString = #fileID, line: UInt = #line,
        _ body: @escaping @Sendable (_ state: inout State) throws -> Value
    ) async throws -> Value {
        try await submit(fileID: fileID, line: line, body).get()
    }
}
