/// Runs work on the caller, before `execute` returns, nested as it comes (law 5).
///
/// Delayed work has no caller to run on: it runs on the global context (law 7). A chain of callbacks that
/// each submit the next nests the stack; `.trampoline` does not.
@frozen
public struct ImmediateContext: SynchronousContext {
    /// Makes the context; all are alike.
    @inlinable
    public init() {}

    @inlinable
    public func execute(_ work: @escaping Work) { work() }

    public func enqueue(_ work: consuming @escaping Work) { GlobalContext().execute(consume work) }

    @inlinable
    public func sync<Value, Failure: Error>(
        _ body: () throws(Failure) -> Value
    ) throws(Failure) -> Value { try body() }

    /// Always yes: wherever the caller runs, that is where the work runs.
    public var isCurrent: Bool? { true }

    public var name: String { "immediate" }

    public var runsAnywhere: Bool { true }
}

extension ExecutionContext where Self == ImmediateContext {
    /// Runs work on the caller, before `execute` returns (law 5).
    @inlinable
    public static var immediate: ImmediateContext { ImmediateContext() }
}
