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
/// What `decorate` adds is there in `sync` and `syncBarrier`, too. `hold` alone is the base's: it runs no closure.
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

    /// The work as `base` is to run it. The default changes nothing.
    ///
    /// It is called once for each submission, and once for each job that `inlineIfCurrent()` runs on the spot.
    func decorate(_ work: @escaping Work) -> Work
}

extension ContextDecorator {
    public func decorate(_ work: @escaping Work) -> Work { work }

    public func execute(_ work: consuming @escaping Work) {
        // Taken apart, so that nothing here holds it when the base runs it (law 10).
        let decorated = LooseWork(decorate(consume work))
        base.execute(decorated.assembled())
    }

    public func enqueue(_ work: consuming @escaping Work) {
        let decorated = LooseWork(decorate(consume work))
        base.enqueue(decorated.assembled())
    }

    public func execute(
        _ work: consuming @escaping Work, refused: @escaping @Sendable (Refusal) -> Void
    ) {
        let decorated = LooseWork(decorate(consume work))
        base.execute(decorated.assembled(), refused: refused)
    }

    public var isCurrent: Bool? { base.isCurrent }

    public func checkIsCurrent() -> Bool { base.checkIsCurrent() }

    public var binding: (@Sendable (_ work: @escaping Work) -> Work)? { base.binding }

    public var time: any TimeSource { base.time }

    public var name: String { base.name }
}

extension ContextDecorator where Base: BarrierContext {
    public func executeBarrier(_ work: consuming @escaping Work) {
        let decorated = LooseWork(decorate(consume work))
        base.executeBarrier(decorated.assembled())
    }
}

// A decorator of a serial base finds this one and the serial contexts' own default; this one decides, so
// that a barrier of the base is a barrier of the view.
extension ContextDecorator where Self: SerialContext, Base: SerialContext {
    public func executeBarrier(_ work: consuming @escaping Work) {
        let decorated = LooseWork(decorate(consume work))
        base.executeBarrier(decorated.assembled())
    }
}

// A decorator that adds the refusing finds the forwarding method and the default of refusing contexts; here, too, its own
// `tryExecute` decides. One that keeps what its base has, by a conditional conformance, forwards.
extension ContextDecorator where Self: RefusingContext {
    public func execute(_ work: consuming @escaping Work, refused: @escaping @Sendable (Refusal) -> Void) {
        do throws(Refusal) { try tryExecute(consume work) } catch { refused(error) }
    }
}

extension ContextDecorator where Base: RefusingContext {
    public func tryExecute(_ work: consuming @escaping Work) throws(Refusal) {
        let decorated = LooseWork(decorate(consume work))
        try base.tryExecute(decorated.assembled())
    }
}

extension ContextDecorator where Base: SynchronousContext {
    public func sync<Value, Failure: Error>(
        _ body: () throws(Failure) -> Value
    ) throws(Failure) -> Value {
        try decorated(body) { work in base.sync(work) }
    }
}

extension ContextDecorator where Base: SynchronousBarrierContext {
    public func syncBarrier<Value, Failure: Error>(
        _ body: () throws(Failure) -> Value
    ) throws(Failure) -> Value {
        try decorated(body) { work in base.syncBarrier(work) }
    }
}

extension ContextDecorator {
    /// Runs `body`, with what this decorator adds, by `wait`, which waits for it.
    private func decorated<Value, Failure: Error>(
        _ body: () throws(Failure) -> Value, wait: (_ work: Work) -> Void
    ) throws(Failure) -> Value {
        // Unsafe in name only: the caller waits while the base runs the body, maybe on another thread, and
        // neither body nor result outlives the call.
        nonisolated(unsafe) var result: Result<Value, Failure>?
        withoutActuallyEscaping({ unsafe result = Result(catching: body) }) { work in
            nonisolated(unsafe) let work = work  // The caller waits for it.
            wait(decorate { unsafe work() })
        }
        guard let result = unsafe result else {
            stopMisuse(
                "\(Self.self) over '\(base.name)' dropped work that a caller waits for (law 1). Its decorate must run "
                    + "the work that it is given; a decorator that drops work must not be a SynchronousContext."
            )
        }
        return try result.get()
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
        try decorated(body) { work in base.syncBarrier(work) }
    }
}
