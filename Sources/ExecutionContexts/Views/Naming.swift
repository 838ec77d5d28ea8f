/// Gives a view a name.
public struct Naming: HoldableAddition {
    let name: String

    public func name(of base: String) -> String { name }

    public func sync<Value, Failure: Error>(
        _ body: () throws(Failure) -> Value, on base: some SynchronousContext
    ) throws(Failure) -> Value { try base.sync(body) }

    public var runsAnywhere: Bool { true }

    public var facts: AdditionFacts { .plain }
}

extension ContextAddition where Self == Naming {
    /// Another name for the context, for messages and tools.
    public static func named(_ name: String) -> Naming { Naming(name: name) }
}

extension ExecutionContext {
    /// Returns this context under another name, for messages and tools.
    public func named(_ name: String) -> ContextView<Self, Naming> { with(.named(name)) }
}
