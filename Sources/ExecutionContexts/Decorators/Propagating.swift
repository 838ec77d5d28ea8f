/// A view whose jobs see values that are bound to them: those of the submitter, or given ones.
@usableFromInline
struct Propagating<Base: ExecutionContext>: SourcePassing {
    @usableFromInline
    let base: Base
    /// Reads the submitter's values and returns a job that sees them.
    let bind: @Sendable (_ work: @escaping Work) -> Work

    @usableFromInline
    func decorate(_ work: @escaping Work) -> Work { bind(work) }

    /// Whether the bound values are the caller's own, so that a waiting thread may run the job
    /// itself.
    let bindsCallerValues: Bool

    @usableFromInline
    init(
        base: Base, bind: @escaping @Sendable (_ work: @escaping Work) -> Work,
        bindsCallerValues: Bool = false
    ) {
        self.base = base
        self.bind = bind
        self.bindsCallerValues = bindsCallerValues
    }

    @usableFromInline
    var runsAnywhere: Bool { bindsCallerValues && base.runsAnywhere }

    @usableFromInline
    var submissionTransform: (@Sendable (_ work: @escaping Work) -> Work)? {
        guard let inner = base.submissionTransform else { return bind }
        return { [bind] work in bind(inner(work)) }
    }
}

extension Propagating: BarrierContext where Base: BarrierContext {}
extension Propagating: SerialContext where Base: SerialContext {}
extension Propagating: MainActorContext where Base: MainActorContext {}
extension Propagating: ActorBackingContext where Base: ActorBackingContext {}
extension Propagating: RefusingContext where Base: RefusingContext {}
// It binds its values to the body of a `sync` as well.
extension Propagating: ThreadMeaningContext {}
extension Propagating: SynchronousContext where Base: SynchronousContext {
    @usableFromInline
    func sync<Value, Failure: Error>(
        _ body: () throws(Failure) -> Value
    ) throws(Failure) -> Value {
        try bound(body) { work in base.sync(work) }
    }
}
extension Propagating: SynchronousBarrierContext where Base: SynchronousBarrierContext {
    @usableFromInline
    func syncBarrier<Value, Failure: Error>(
        _ body: () throws(Failure) -> Value
    ) throws(Failure) -> Value {
        try bound(body) { work in base.syncBarrier(work) }
    }
}
extension Propagating {
    /// Runs `body` with the caller's values, by `submit`, which waits for it.
    private func bound<Value, Failure: Error>(
        _ body: () throws(Failure) -> Value, submit: (_ work: Work) -> Void
    ) throws(Failure) -> Value {
        // Unsafe in name only: the caller waits while the base runs the body, maybe on another
        // thread, and neither body nor result outlives the call.
        nonisolated(unsafe) var result: Result<Value, Failure>?
        withoutActuallyEscaping({ unsafe result = Result(catching: body) }) { work in
            nonisolated(unsafe) let work = work  // The caller waits for it.
            let bound = bind { unsafe work() }
            JobSource.passing(body, to: base) { submit(bound) }
        }
        return try unsafe result.unsafelyUnwrapped.get()
    }
}

extension ExecutionContext {
    /// Returns a view of this context whose jobs see the submitter's values of these task-locals.
    ///
    /// A closure given to a queue sees the default values. A closure given to this view, or to a
    /// view of it, sees the values that the caller of `execute` or `schedule` sees:
    ///
    /// ```swift
    /// let context = GlobalContext().propagating(Request.$id, Request.$user)
    /// ```
    @inlinable
    public func propagating<each Value: Sendable>(
        _ locals: repeat TaskLocal<each Value>
    ) -> some ExecutionContext {
        Propagating(base: self, bind: binder(repeat each locals), bindsCallerValues: true)
    }
}

extension BarrierContext {
    /// Returns a view of this context whose jobs see the submitter's values of these task-locals.
    @inlinable
    public func propagating<each Value: Sendable>(
        _ locals: repeat TaskLocal<each Value>
    ) -> some BarrierContext {
        Propagating(base: self, bind: binder(repeat each locals), bindsCallerValues: true)
    }
}

extension SerialContext {
    /// Returns a view of this context whose jobs see the submitter's values of these task-locals.
    @inlinable
    public func propagating<each Value: Sendable>(
        _ locals: repeat TaskLocal<each Value>
    ) -> some SerialContext {
        Propagating(base: self, bind: binder(repeat each locals), bindsCallerValues: true)
    }
}

extension ActorBackingContext {
    /// Returns a view of this context whose jobs see the submitter's values of these task-locals.
    @inlinable
    public func propagating<each Value: Sendable>(
        _ locals: repeat TaskLocal<each Value>
    ) -> some ActorBackingContext {
        Propagating(base: self, bind: binder(repeat each locals), bindsCallerValues: true)
    }
}

extension MainActorContext {
    /// Returns a view of this context whose jobs see the submitter's values of these task-locals.
    @inlinable
    public func propagating<each Value: Sendable>(
        _ locals: repeat TaskLocal<each Value>
    ) -> some MainActorContext {
        Propagating(base: self, bind: binder(repeat each locals), bindsCallerValues: true)
    }
}

extension MainActorContext where Self: ActorBackingContext {
    /// Returns a view of this context whose jobs see the submitter's values of these task-locals.
    @inlinable
    public func propagating<each Value: Sendable>(
        _ locals: repeat TaskLocal<each Value>
    ) -> some MainActorContext & ActorBackingContext {
        Propagating(base: self, bind: binder(repeat each locals), bindsCallerValues: true)
    }
}

@usableFromInline
func binder<each Value: Sendable>(
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
