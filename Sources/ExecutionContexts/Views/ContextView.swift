/// A view of a context with an addition: what `named`, `observed(by:)` and `with(_:)` return.
///
/// It keeps every power that its context has, statically, through any number of views (law 8):
///
/// ```swift
/// let database = SerialQueueContext(name: "db").named("database").labeled("query")
/// print(database.sync { 7 })
/// ```
///
/// It is an object, so it may be the executor of an actor that stores it.
public final class ContextView<Base: ExecutionContext, Addition: ContextAddition>: ContextDecorator
{
    public let base: Base
    /// What the view adds to the jobs of its base.
    public let addition: Addition
    /// Decides which jobs run inline; nil if none does.
    private let inlining: Inlining?
    /// Whether the addition reads the sources of jobs by itself.
    private let readsSource: Bool

    @usableFromInline
    init(_ base: Base, attached addition: Addition, _ facts: AdditionFacts) {
        self.base = base
        self.addition = addition
        inlining = facts.inlining
        readsSource = facts.readsSource
    }

    // Inlinable, so that code for its type makes a view for one submission, as by `labeled`.
    @inlinable
    convenience init(_ base: Base, _ addition: Addition) {
        let addition = addition.attached(to: base)
        self.init(base, attached: addition, addition.facts)
    }

    @_disfavoredOverload
    public func execute(_ work: consuming @escaping Work) {
        if let inlining, inlining.isNow { return inlining.run(consume work) }
        base.execute(decorated(consume work).assembled())
    }

    public func execute(
        _ work: consuming @escaping Work, refused: consuming @escaping @Sendable (Refusal) -> Void
    ) {
        if let inlining, inlining.isNow { return inlining.run(consume work) }
        base.execute(decorated(consume work).assembled(), refused: consume refused)
    }

    // Unmanaged, so that no frame of the caller holds a reference when the base runs it (law 10).
    @inline(__always)
    private func decorated(_ work: consuming @escaping Work) -> UnmanagedWork {
        if readsSource { return UnmanagedWork(addition.decorate(work)) }
        return JobSource.keep(of: consume work) { addition.decorate($0) }
    }

    public func decorate(_ work: @escaping Work) -> Work { addition.decorate(work) }

    public var submissionTransform: (@Sendable (_ work: @escaping Work) -> Work)? {
        guard let inner = base.submissionTransform else { return addition.submissionTransform }
        guard let outer = addition.submissionTransform else { return inner }
        // As jobs pass through the two views.
        return { inner(outer($0)) }
    }

    public var runsAnywhere: Bool { addition.runsAnywhere && base.runsAnywhere }

    public var name: String { addition.name(of: base.name) }

    public var facts: ContextFacts {
        let below = base.facts
        let added = addition.facts
        var view = ViewFacts(of: base)
        view.decorate = { [addition] in addition.decorate($0) }
        view.addsInline = added.addsInline
        var facts = ContextFacts()
        facts.view = view
        facts.hasSystemTime = below.hasSystemTime
        facts.meansThread = added.needsThread ? nil : base.jobsMeanThread
        facts.label = added.label
        facts.mayInline = inlining != nil
        facts.takesSource = true
        facts.inherit(from: below)
        if let outer = added.report {
            facts.report = outer
            if let inner = below.report {
                facts.report = { source, body in outer(source) { inner(source, body) } }
            }
        }
        if let forecast = added.forecast {
            facts.forecast = { [base] in forecast(base, &$0) }
        }
        return facts
    }

    /// Runs the body of a `sync` by the addition, and lets the base see where it comes from.
    private func sync<Value, Failure: Error>(
        _ body: () throws(Failure) -> Value, by target: some SynchronousContext
    ) throws(Failure) -> Value {
        guard JobSource.isRead && !readsSource else { return try addition.sync(body, on: target) }
        var source = JobSource.takeOfSync(body)
        if let label = addition.facts.label { source = source.labeled(label) }
        return try addition.sync(body, on: SourcedSync(base: target, source: source))
    }
}

extension ContextView: BarrierContext where Base: BarrierContext {}
extension ContextView: SerialContext where Base: SerialContext {}
extension ContextView: MainActorContext where Base: MainActorContext {}
extension ContextView: Executor where Base: ActorBackingContext {}
extension ContextView: SerialExecutor where Base: ActorBackingContext {}
extension ContextView: ActorBackingContext where Base: ActorBackingContext {}

extension ContextView: RefusingContext where Base: RefusingContext {
    public func tryExecute(_ work: consuming @escaping Work) throws(Refusal) {
        if let inlining, inlining.isNow { return inlining.run(consume work) }
        try base.tryExecute(decorated(consume work).assembled())
    }
}

extension ContextView: SynchronousContext where Base: SynchronousContext {
    @_disfavoredOverload
    public func sync<Value, Failure: Error>(
        _ body: () throws(Failure) -> Value
    ) throws(Failure) -> Value { try sync(body, by: base) }
}

extension ContextView: SynchronousBarrierContext
where Base: SynchronousBarrierContext, Addition: HoldableAddition {
    public func syncBarrier<Value, Failure: Error>(
        _ body: () throws(Failure) -> Value
    ) throws(Failure) -> Value { try sync(body, by: BarrierSync(base: base)) }

    public func hold() -> ExclusiveHold { addition.hold(base) }
}

/// A base whose `sync` is its `syncBarrier`. To an addition it is the base.
private struct BarrierSync<Base: SynchronousBarrierContext>: ContextDecorator, BarrierContext,
    SynchronousContext
{
    let base: Base

    func sync<Value, Failure: Error>(
        _ body: () throws(Failure) -> Value
    ) throws(Failure) -> Value { try base.syncBarrier(body) }

    var runsAnywhere: Bool { base.runsAnywhere }

    var facts: ContextFacts { base.facts }
}

extension BarrierSync: SerialContext where Base: SerialContext {}

/// A base that receives the source of the body of its `sync`. To an addition it is the base.
private struct SourcedSync<Base: SynchronousContext>: ContextDecorator, SynchronousContext {
    let base: Base
    let source: JobSource

    func sync<Value, Failure: Error>(
        _ body: () throws(Failure) -> Value
    ) throws(Failure) -> Value {
        try source.passing(to: base) { () throws(Failure) -> Value in try base.sync(body) }
    }

    var runsAnywhere: Bool { base.runsAnywhere }

    var facts: ContextFacts { base.facts }
}

extension SourcedSync: BarrierContext where Base: BarrierContext {}
extension SourcedSync: SerialContext where Base: SerialContext {}

extension ExecutionContext {
    /// Returns a view of this context with an addition of your own, or of the library's.
    ///
    /// ```swift
    /// let context = GlobalContext().labeled("decode").with(Counting(counter: Counter()))
    /// ```
    ///
    /// The view keeps every power of this context (law 8). On a context of a known type, which may
    /// be a generic parameter, the additions of the library have methods of their own:
    /// `context.named("a")` is `context.with(.named("a"))`. On a stored `any` context there is this
    /// method only.
    @inlinable
    public func with<Addition: ContextAddition>(
        _ addition: Addition
    ) -> ContextView<Self, Addition> { ContextView(self, addition) }
}

// A method that returns `ContextView<Self, Addition>` cannot be called on an existential. There the
// overloads below can. They return an existential, since the optimizer of Swift 6.3 does not end on
// some loops that use a value of an opaque type.

extension ExecutionContext {
    /// Returns a view of this context with an addition, for a stored `any` context.
    @_disfavoredOverload
    public func with(_ addition: some ContextAddition) -> any ExecutionContext {
        ContextView(self, addition)
    }
}

extension BarrierContext {
    /// Returns a view of this context with an addition, for a stored `any` context.
    @_disfavoredOverload
    public func with(_ addition: some ContextAddition) -> any BarrierContext {
        ContextView(self, addition)
    }
}

extension SerialContext {
    /// Returns a view of this context with an addition, for a stored `any` context.
    @_disfavoredOverload
    public func with(_ addition: some ContextAddition) -> any SerialContext {
        ContextView(self, addition)
    }
}

extension ActorBackingContext {
    /// Returns a view of this context with an addition, for a stored `any` context.
    @_disfavoredOverload
    public func with(_ addition: some ContextAddition) -> any ActorBackingContext {
        ContextView(self, addition)
    }
}

extension MainActorContext {
    /// Returns a view of this context with an addition, for a stored `any` context.
    @_disfavoredOverload
    public func with(_ addition: some ContextAddition) -> any MainActorContext {
        ContextView(self, addition)
    }
}

extension MainActorContext where Self: ActorBackingContext {
    /// Returns a view of this context with an addition, for a stored `any` context.
    @_disfavoredOverload
    public func with(
        _ addition: some ContextAddition
    ) -> any MainActorContext & ActorBackingContext { ContextView(self, addition) }
}
