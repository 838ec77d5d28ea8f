/// A context that adds something to another context and forwards everything else (law 8).
///
/// Implement `base` and what you add. The defaults forward every other requirement:
///
/// ```swift
/// struct CountedView<Base: ExecutionContext>: ContextDecorator {
///     let base: Base
///     let counter: Counter
///     func decorate(_ work: @escaping Work) -> Work { counter.increment(); return work }
/// }
/// extension CountedView: BarrierContext where Base: BarrierContext {}
/// extension CountedView: SerialContext where Base: SerialContext {}
/// ```
///
/// `sync` and `syncBarrier` decorate their bodies, too. `hold` forwards to the base: it runs no
/// closure.
///
/// `runsAnywhere` stays false, because a waiting thread would run work without what the decorator
/// adds. Forward it if that does no harm. Where it is false, a `sync` on a view of the decorator
/// runs its body on the thread of the job, and not on the caller (law 4).
///
/// The two conformances keep barriers and serial order. Leave out what the view cannot keep. A view
/// that only adds something to jobs is shorter as a ``ContextAddition``, which keeps every power.
///
/// A method that makes a decorator returns its type. On a stored `any` context, where it cannot be
/// called, another one returns `any`. Do not return `some`: Swift 6.3 with `-O` does not end on
/// some loops that use such a value.
public protocol ContextDecorator<Base>: ExecutionContext {
    /// The type of the decorated context.
    associatedtype Base: ExecutionContext

    /// The decorated context.
    var base: Base { get }

    /// Returns the work that `base` runs in place of `work`. The default returns `work`.
    ///
    /// It is called once for each submission, and once for each job that `inlineIfCurrent()` runs
    /// on the spot.
    func decorate(_ work: @escaping Work) -> Work
}

extension ContextDecorator {
    public func decorate(_ work: @escaping Work) -> Work { work }

    @_disfavoredOverload
    public func execute(_ work: consuming @escaping Work) {
        base.execute(decorated(consume work).assembled())
    }

    public func enqueue(_ work: consuming @escaping Work) {
        base.enqueue(decorated(consume work).assembled())
    }

    public func execute(
        _ work: consuming @escaping Work, refused: consuming @escaping @Sendable (Refusal) -> Void
    ) {
        base.execute(decorated(consume work).assembled(), refused: consume refused)
    }

    public var isCurrent: Bool? { base.isCurrent }

    public func checkIsCurrent() -> Bool { base.checkIsCurrent() }

    public var submissionTransform: (@Sendable (_ work: @escaping Work) -> Work)? {
        base.submissionTransform
    }

    public var time: any TimeSource { base.time }

    public var name: String { base.name }

    public var facts: ContextFacts { ContextFacts(decorator: self) }

    /// Unmanaged, so that the caller's frame holds no reference when the base runs the work (law
    /// 10).
    @inline(__always)
    private func decorated(_ work: consuming @escaping Work) -> UnmanagedWork {
        JobSource.keep(of: consume work) { decorate($0) }
    }

    /// Runs `body`, decorated, by `wait`, which returns when the body has run.
    private func decorated<Value, Failure: Error>(
        _ body: () throws(Failure) -> Value, wait: (_ work: Work) -> Void
    ) throws(Failure) -> Value {
        // Unsafe in name only: the caller waits while the base runs the body, and neither body nor
        // result outlives the call.
        nonisolated(unsafe) var result: Result<Value, Failure>?
        withoutActuallyEscaping({ unsafe result = Result(catching: body) }) { work in
            nonisolated(unsafe) let work = work  // As above.
            let decorated = decorate { unsafe work() }
            guard JobSource.isRead else { return wait(decorated) }
            JobSource.takeOfSync(body).passing(to: base) { wait(decorated) }
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

// `Self` is named as well: a decorator that leaves a conformance out has no method of it.
extension ContextDecorator where Self: BarrierContext, Base: BarrierContext {
    public func executeBarrier(_ work: consuming @escaping Work) {
        base.executeBarrier(decorated(consume work).assembled())
    }
}

// This one wins over the default of serial contexts, so that a barrier of the base is a barrier of
// the view.
extension ContextDecorator where Self: SerialContext, Base: SerialContext {
    public func executeBarrier(_ work: consuming @escaping Work) {
        base.executeBarrier(decorated(consume work).assembled())
    }
}

// This one wins over the forwarding default and that of refusing contexts. It calls `tryExecute` of
// the decorator, which forwards if the decorator is refusing because its base is.
extension ContextDecorator where Self: RefusingContext {
    public func execute(
        _ work: consuming @escaping Work, refused: consuming @escaping @Sendable (Refusal) -> Void
    ) {
        do throws(Refusal) { try tryExecute(consume work) } catch { refused(error) }
    }
}

extension ContextDecorator where Self: RefusingContext, Base: RefusingContext {
    public func tryExecute(_ work: consuming @escaping Work) throws(Refusal) {
        try base.tryExecute(decorated(consume work).assembled())
    }
}

extension ContextDecorator where Self: SynchronousContext, Base: SynchronousContext {
    @_disfavoredOverload
    public func sync<Value, Failure: Error>(
        _ body: () throws(Failure) -> Value
    ) throws(Failure) -> Value {
        try decorated(body) { work in base.sync(work) }
    }
}

extension ContextDecorator where Self: SynchronousBarrierContext, Base: SynchronousBarrierContext {
    public func syncBarrier<Value, Failure: Error>(
        _ body: () throws(Failure) -> Value
    ) throws(Failure) -> Value {
        try decorated(body) { work in base.syncBarrier(work) }
    }
}

// These two win over the defaults of the protocol and of serial contexts, as above.
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
