/// Runs work on the caller, before `execute` returns, also when calls nest (law 5).
///
/// Delayed work has no caller to run on: it runs on the global context (law 7). A chain of
/// callbacks that each submit the next one nests the stack; on `.trampoline` it does not.
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

    /// Always yes: the work runs where the caller runs.
    public var isCurrent: Bool? { true }

    public var name: String { "immediate" }

    public var runsAnywhere: Bool { true }

    public var facts: ContextFacts {
        var facts = ContextFacts()
        facts.hasSystemTime = true
        return facts
    }
}

extension ExecutionContext where Self == ImmediateContext {
    /// Runs work on the caller, before `execute` returns (law 5).
    @inlinable
    public static var immediate: ImmediateContext { ImmediateContext() }
}
