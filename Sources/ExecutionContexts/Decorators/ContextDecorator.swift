/// A context that adds something to another one and forwards all of its powers (law 8).
///
/// Write `base` and what you add; everything else is forwarded, so wrapping loses nothing:
///
/// ```swift
/// struct Counted<Base: ExecutionContext>: ContextDecorator {
///     let base: Base
///     let counter: Counter
///     func decorate(_ work: @escaping Work) -> Work { counter.increment(); return work }
/// }
/// extension Counted: BarrierContext where Base: BarrierContext {}
/// extension Counted: SerialContext where Base: SerialContext {}
/// ```
///
/// `runsAnywhere` alone stays false: a thread that waits would run work without what the decorator adds. Forward
/// it where that does no harm.
///
/// The two conditional conformances keep barriers and serial-ness. A method that makes a decorator returns
/// `some ExecutionContext`, with an overload for each refinement it keeps: a method that returned
/// `Counted<Self>` could not be called on a stored `any ExecutionContext`.
public protocol ContextDecorator<Base>: ExecutionContext {
    /// The kind of context that is decorated.
    associatedtype Base: ExecutionContext

    /// The context that is decorated.
    var base: Base { get }

    /// The work as `base` is to run it; called once for each submission. The default changes nothing.
    func decorate(_ work: @escaping Work) -> Work
}

extension ContextDecorator {
    public func decorate(_ work: @escaping Work) -> Work { work }

    public func execute(_ work: @escaping Work) { base.execute(decorate(work)) }

    public func enqueue(_ work: @escaping Work) { base.enqueue(decorate(work)) }

    public func execute(_ work: @escaping Work, refused: @escaping @Sendable (Refusal) -> Void) {
        base.execute(decorate(work), refused: refused)
    }

    public var isCurrent: Bool? { base.isCurrent }

    public func checkIsCurrent() -> Bool { base.checkIsCurrent() }

    public var binding: (@Sendable (_ work: @escaping Work) -> Work)? { base.binding }

    public var time: any TimeSource { base.time }

    public var name: String { base.name }
}

extension ContextDecorator where Base: BarrierContext {
    public func executeBarrier(_ work: @escaping Work) { base.executeBarrier(decorate(work)) }
}

// A decorator of a serial base finds this one and the serial contexts' own default; this one decides, so
// that a barrier of the base is a barrier of the view.
extension ContextDecorator where Self: SerialContext, Base: SerialContext {
    public func executeBarrier(_ work: @escaping Work) { base.executeBarrier(decorate(work)) }
}

extension ContextDecorator where Base: RefusingContext {
    public func tryExecute(_ work: @escaping Work) throws(Refusal) {
        try base.tryExecute(decorate(work))
    }
}

extension ContextDecorator where Base: SynchronousContext {
    public func sync<Value, Failure: Error>(
        _ body: () throws(Failure) -> Value
    ) throws(Failure) -> Value {
        try base.sync(body)
    }
}

extension ContextDecorator where Base: SynchronousBarrierContext {
    public func syncBarrier<Value, Failure: Error>(
        _ body: () throws(Failure) -> Value
    ) throws(Failure) -> Value {
        try base.syncBarrier(body)
    }
}

// These two decide over the defaults of the protocol and of serial contexts, as above.
extension ContextDecorator where Self: SynchronousBarrierContext, Base: SynchronousBarrierContext {
    public func hold() -> ExclusiveHold { base.hold() }
}

extension ContextDecorator
where Self: SynchronousBarrierContext & SerialContext, Base: SynchronousBarrierContext {
    public func syncBarrier<Value, Failure: Error>(
        _ body: () throws(Failure) -> Value
    ) throws(Failure) -> Value {
        try base.syncBarrier(body)
    }
}
