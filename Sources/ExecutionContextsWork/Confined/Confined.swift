public import ExecutionContexts

/// A value that is accessed on one serial context only, and that its owner shares with other
/// threads.
///
/// ```swift
/// final class Prefetcher: Sendable {
///     private let wanted: Confined<Set<String>>
///     init(on context: some SerialContext) { wanted = Confined([], to: context) }
///     func start(_ paths: [String]) { wanted.perform { wanted in wanted.formUnion(paths) } }
/// }
/// ```
///
/// It makes a component an actor on an injected context. A call from another thread is submitted to
/// the context, in order. A call from the context itself runs inline where order allows (law 6), so
/// components that share one context call each other without a submission. A call from within a
/// call runs after it, in the same job: accesses to the value never overlap.
///
/// - The context is injected once and never changes.
/// - Submitted calls also run after the owner was released (law 10).
/// - The value is released with the last reference to this object, on the thread that releases it.
///
/// It is not for a caller that needs a result before it continues. Use a `LockedResource`, or a
/// Swift actor where all callers are async.
public final class Confined<State>: @unchecked Sendable {
    // Unchecked: `state` is accessed only in jobs on the context, which is serial.
    private var state: State
    private let jobs: ConfinedJobs

    /// Creates a confined value with the initial value `state`, for calls on `context`.
    ///
    /// If the context drops a call, the call of `perform` is freed, and that of `submit` or `run`
    /// ends with a refusal, while no other call runs (laws 1, 10).
    public init(_ state: sending State, to context: some SerialContext) {
        self.state = state
        jobs = ConfinedJobs(on: context)
    }

    /// The context on which the value is accessed.
    public var context: any SerialContext { jobs.context }

    /// Runs `body` with the value on the context, inline or later, in the order of the calls
    /// (laws 2, 6).
    public func perform(
        fileID: StaticString = #fileID, line: UInt = #line,
        _ body: @escaping @Sendable (_ state: inout State) -> Void
    ) {
        guard let bind = context.submissionTransform else {
            return jobs.perform(.call(fileID, line)) { refusal in
                if refusal == nil { body(&self.state) }
            }
        }
        // Bound here: jobs of several callers run one after another.
        let work = bind { body(&self.state) }
        jobs.perform(.call(fileID, line)) { refusal in if refusal == nil { work() } }
    }

    /// Runs `body` with the value on the context, and returns its result as an `Async`.
    ///
    /// If the context refuses or drops the call, the `Async` fails with a refusal (law 1).
    /// Cancelling the `Async` does not undo the call.
    @discardableResult
    public func submit<Value: Sendable>(
        fileID: StaticString = #fileID, line: UInt = #line,
        _ body: @escaping @Sendable (_ state: inout State) throws -> Value
    ) -> Async<Value> {
        let promise = Promise<Value>(fileID: fileID, line: line)
        let run = Deadline.admitting(
            { try body(&self.state) }, by: jobs.context.name, from: "\(fileID):\(line)")
        jobs.perform(.call(fileID, line), mayBeRefused: true) { refusal in
            if let refusal { promise.fail(refusal) } else { promise.complete(with: run) }
        }
        return promise.async
    }

    /// Runs `body` with the value on the context, and returns or throws its result.
    ///
    /// A task that is cancelled while it waits continues with `CancellationError`. The call is not
    /// undone.
    public nonisolated(nonsending) func run<Value: Sendable>(
        fileID: StaticString = #fileID, line: UInt = #line,
        _ body: @escaping @Sendable (_ state: inout State) throws -> Value
    ) async throws -> Value {
        try await submit(fileID: fileID, line: line, body).get()
    }
}
