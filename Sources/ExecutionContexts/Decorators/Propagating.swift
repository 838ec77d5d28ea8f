/// A context whose work sees values that are bound to it: those of its submitter, or given ones.
struct Propagating<Base: ExecutionContext>: ContextDecorator {
    let base: Base
    /// Reads the submitter's values and returns the work that sees them.
    let bind: @Sendable (_ work: @escaping Work) -> Work

    func decorate(_ work: @escaping Work) -> Work { bind(work) }

    /// Whether a thread that waits has what is bound without it, so that it may run the work itself.
    var isOfTheCaller = false

    var runsAnywhere: Bool { isOfTheCaller && base.runsAnywhere }

    var binding: (@Sendable (_ work: @escaping Work) -> Work)? {
        guard let inner = base.binding else { return bind }
        return { [bind] work in bind(inner(work)) }
    }
}

extension Propagating: BarrierContext where Base: BarrierContext {}
extension Propagating: SerialContext where Base: SerialContext {}
extension Propagating: ActorBackingContext where Base: ActorBackingContext {}
extension Propagating: RefusingContext where Base: RefusingContext {}
extension Propagating: SynchronousContext where Base: SynchronousContext {
    func sync<Value, Failure: Error>(
        _ body: () throws(Failure) -> Value
    ) throws(Failure) -> Value {
        try bound(body) { work in base.sync(work) }
    }
}
extension Propagating: SynchronousBarrierContext where Base: SynchronousBarrierContext {
    func syncBarrier<Value, Failure: Error>(
        _ body: () throws(Failure) -> Value
    ) throws(Failure) -> Value {
        try bound(body) { work in base.syncBarrier(work) }
    }
}
extension Propagating {
    /// Runs `body` by `submit`, which waits for it, with the caller's values wherever that is.
    private func bound<Value, Failure: Error>(
        _ body: () throws(Failure) -> Value, submit: (_ work: Work) -> Void
    ) throws(Failure) -> Value {
        // Unsafe in name only: the caller waits while the base runs the body, maybe on another thread, and
        // neither body nor result outlives the call.
        nonisolated(unsafe) var result: Result<Value, Failure>?
        withoutActuallyEscaping({ unsafe result = Result(catching: body) }) { work in
            nonisolated(unsafe) let work = work  // The caller waits for it.
            submit(bind { unsafe work() })
        }
        return try unsafe result.unsafelyUnwrapped.get()
    }
}

extension ExecutionContext {
    /// This context, with the values that these task-locals have for the submitter.
    ///
    /// A closure given to a queue sees the default values; one given to this view, or to a view of it, sees
    /// what the caller of `execute` or `schedule` saw:
    ///
    /// ```swift
    /// let context = GlobalContext().propagating(Request.$id, Request.$user)
    /// ```
    public func propagating<each Value: Sendable>(
        _ locals: repeat TaskLocal<each Value>
    ) -> some ExecutionContext {
        Propagating(base: self, bind: binder(repeat each locals), isOfTheCaller: true)
    }
}

extension BarrierContext {
    /// This context, with the values that these task-locals have for the submitter.
    public func propagating<each Value: Sendable>(
        _ locals: repeat TaskLocal<each Value>
    ) -> some BarrierContext {
        Propagating(base: self, bind: binder(repeat each locals), isOfTheCaller: true)
    }
}

extension SerialContext {
    /// This context, with the values that these task-locals have for the submitter.
    public func propagating<each Value: Sendable>(
        _ locals: repeat TaskLocal<each Value>
    ) -> some SerialContext {
        Propagating(base: self, bind: binder(repeat each locals), isOfTheCaller: true)
    }
}

extension ActorBackingContext {
    /// This context, with the values that these task-locals have for the submitter.
    public func propagating<each Value: Sendable>(
        _ locals: repeat TaskLocal<each Value>
    ) -> some ActorBackingContext {
        Propagating(base: self, bind: binder(repeat each locals), isOfTheCaller: true)
    }
}

private func binder<each Value: Sendable>(
    _ locals: repeat TaskLocal<each Value>
) -> @Sendable (@escaping Work) -> Work {
    let wrap: [@Sendable (@escaping Work) -> Work] = {
        var wraps: [@Sendable (@escaping Work) -> Work] = []
        for local in repeat each locals { wraps.append(rebinding(local)) }
        return wraps
    }()
    return { work in wrap.reduce(work) { bound, wrap in wrap(bound) } }
}

private func rebinding<Value: Sendable>(
    _ local: TaskLocal<Value>
) -> @Sendable (@escaping Work) -> Work {
    { work in
        let value = local.get()
        return { local.withValue(value) { work() } }
    }
}
