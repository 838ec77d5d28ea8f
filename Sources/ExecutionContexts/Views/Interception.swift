/// Calls an interceptor for each job of a view, and the job runs inside of that call.
public struct Interception: HoldableAddition {
    private let interceptor: @Sendable (_ job: () -> Void) -> Void

    /// Makes the addition; `interceptor` calls each job.
    public init(_ interceptor: @escaping @Sendable (_ job: () -> Void) -> Void) {
        self.interceptor = interceptor
    }

    /// The job runs `work` once, whatever the interceptor does (law 1).
    public func decorate(_ work: @escaping Work) -> Work {
        { [interceptor] in
            // The interceptor may use another thread only while this one waits for it, since its
            // argument does not escape.
            let begin = Decision()
            func job() { if begin.make() { work() } }
            interceptor(job)
            // Not a trap: what only watches jobs must not end the program when it leaves early.
            job()
        }
    }
}

extension ExecutionContext {
    /// Returns a view of this context whose jobs run inside of `interceptor`, which calls each one.
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
    /// interceptor cannot keep it. It returns nothing: a ``ContextObserver`` receives errors.
    ///
    /// The interceptor calls `job` on its own thread: on another one the job would run outside of
    /// its context (law 4). It is called for the bodies of `sync`, `run` and `submit`, for delays
    /// that are due and for each part of a task, which sees the task-locals of its task, not those
    /// of the interceptor. A hold runs no job.
    public func intercepted(
        by interceptor: @escaping @Sendable (_ job: () -> Void) -> Void
    ) -> ContextView<Self, Interception> { with(Interception(interceptor)) }
}
