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

/// Adds a label to the jobs of a view.
public struct Labeling: HoldableAddition {
    private let label: String

    @usableFromInline
    init(label: String) { self.label = label }

    public func decorate(_ work: @escaping Work) -> Work { JobSource.label(label, work) }

    // The view labels the source of the body.
    public func sync<Value, Failure: Error>(
        _ body: () throws(Failure) -> Value, on base: some SynchronousContext
    ) throws(Failure) -> Value { try base.sync(body) }

    public var runsAnywhere: Bool { true }

    public var facts: AdditionFacts {
        // An inline job is a part of another one.
        var facts = AdditionFacts.plain
        facts.label = label
        return facts
    }
}

extension ContextAddition where Self == Labeling {
    /// A label for the jobs of the context, which observers and tools show.
    @inlinable
    public static func labeled(_ label: String) -> Labeling { Labeling(label: label) }
}

extension ExecutionContext {
    /// Returns this context with a label for its jobs, which observers and tools show.
    ///
    /// ```swift
    /// let decoding = GlobalContext().labeled("decode")
    /// decoding.execute { print("shown as 'decode'") }
    /// ```
    ///
    /// Each submission through the view carries the label: of a closure, of a delay, of `run`,
    /// `submit` and `sync`, of a callback. Label one submission by a view for it alone:
    /// `context.labeled("warm up").execute { ... }`. Of several labels the one nearest to the
    /// submission counts: that of the last view. A view with its own queue, such as a serial one,
    /// submits drains, and they keep their name. A job without a label is shown by where it was
    /// written: see `name` of ``ObservedWork``.
    @inlinable
    public func labeled(_ label: String) -> ContextView<Self, Labeling> { with(.labeled(label)) }
}
