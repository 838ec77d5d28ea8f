internal import Synchronization

/// A view that calls an interceptor for each job, and the job runs inside of that call.
@usableFromInline
struct Intercepted<Base: ExecutionContext>: SourcePassing {
    @usableFromInline
    let base: Base
    let interceptor: @Sendable (_ job: () -> Void) -> Void

    @usableFromInline
    init(base: Base, interceptor: @escaping @Sendable (_ job: () -> Void) -> Void) {
        self.base = base
        self.interceptor = interceptor
    }

    @usableFromInline
    func decorate(_ work: @escaping Work) -> Work {
        { [interceptor] in Self.run(work, in: interceptor) }
    }

    /// Runs `work` once, whatever the interceptor does (law 1).
    private static func run(
        _ work: @escaping Work, in interceptor: (_ job: () -> Void) -> Void
    ) {
        // Relaxed: of several calls one runs the job, and publishes nothing. The interceptor may
        // use another thread only while this one waits for it, since its argument does not escape.
        let hasBegun = Atomic(false)
        func job() {
            SimulationHooks.point()
            if !hasBegun.exchange(true, ordering: .relaxed) { work() }
        }
        interceptor(job)
        // Not a trap: what only watches jobs must not end the program when it leaves early.
        job()
    }
}

extension Intercepted: BarrierContext where Base: BarrierContext {}
extension Intercepted: SerialContext where Base: SerialContext {}
extension Intercepted: MainActorContext where Base: MainActorContext {}
extension Intercepted: ActorBackingContext where Base: ActorBackingContext {}
extension Intercepted: RefusingContext where Base: RefusingContext {}
extension Intercepted: SynchronousContext where Base: SynchronousContext {}
extension Intercepted: SynchronousBarrierContext where Base: SynchronousBarrierContext {}

extension ExecutionContext {
    /// Returns a view of this context whose jobs run inside of `interceptor`, which calls each of
    /// them.
    ///
    /// Use it for what must be current while a job runs, such as a tracing span:
    ///
    /// ```swift
    /// let traced = context.intercepted { job in
    ///     Request.$user.withValue("Ann") { job() }
    /// }
    /// ```
    ///
    /// Each job runs exactly once (law 1). The second call of `job` does nothing. If the
    /// interceptor returns without a call, the job runs then. `job` does not escape, so the
    /// interceptor cannot keep it, and returns nothing, since a job has no result here: a
    /// ``ContextObserver`` is told of errors.
    ///
    /// The interceptor calls `job` on the thread on which it is called itself. On another one the
    /// job would run outside of its context (law 4). It is called for the bodies of `sync`, `run`
    /// and `submit`, for delays that are due and for each part of a task. A part of a task sees the
    /// task-locals of its task, not those of the interceptor. A hold runs no job.
    @inlinable
    public func intercepted(
        by interceptor: @escaping @Sendable (_ job: () -> Void) -> Void
    ) -> some ExecutionContext {
        Intercepted(base: self, interceptor: interceptor)
    }
}

extension BarrierContext {
    /// Returns a view of this context whose jobs run inside of `interceptor`, which calls each of
    /// them.
    @inlinable
    public func intercepted(
        by interceptor: @escaping @Sendable (_ job: () -> Void) -> Void
    ) -> some BarrierContext {
        Intercepted(base: self, interceptor: interceptor)
    }
}

extension SerialContext {
    /// Returns a view of this context whose jobs run inside of `interceptor`, which calls each of
    /// them.
    @inlinable
    public func intercepted(
        by interceptor: @escaping @Sendable (_ job: () -> Void) -> Void
    ) -> some SerialContext {
        Intercepted(base: self, interceptor: interceptor)
    }
}

extension ActorBackingContext {
    /// Returns a view of this context whose jobs run inside of `interceptor`, which calls each of
    /// them.
    @inlinable
    public func intercepted(
        by interceptor: @escaping @Sendable (_ job: () -> Void) -> Void
    ) -> some ActorBackingContext {
        Intercepted(base: self, interceptor: interceptor)
    }
}

extension MainActorContext {
    /// Returns a view of this context whose jobs run inside of `interceptor`, which calls each of
    /// them.
    @inlinable
    public func intercepted(
        by interceptor: @escaping @Sendable (_ job: () -> Void) -> Void
    ) -> some MainActorContext {
        Intercepted(base: self, interceptor: interceptor)
    }
}

extension MainActorContext where Self: ActorBackingContext {
    /// Returns a view of this context whose jobs run inside of `interceptor`, which calls each of
    /// them.
    @inlinable
    public func intercepted(
        by interceptor: @escaping @Sendable (_ job: () -> Void) -> Void
    ) -> some MainActorContext & ActorBackingContext {
        Intercepted(base: self, interceptor: interceptor)
    }
}
