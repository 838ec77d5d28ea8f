extension ContextAddition where Self == Propagation {
    /// This value of a thread-local, for the jobs of the context while they run.
    public static func binding<Value: Sendable>(
        _ local: ThreadLocalValue<Value>, to value: Value?
    ) -> Propagation {
        Propagation(bindsCallerValues: false, bind: binder(local, value))
    }
}

extension ExecutionContext {
    /// This context, whose jobs see this value of a thread-local while they run.
    ///
    /// The thread's previous value is restored after each job, so no job sees what another one set:
    ///
    /// ```swift
    /// let context = GlobalContext().binding(requestID, to: "41")
    /// ```
    ///
    /// To let jobs see a value of their submitter, use a `TaskLocal` and `propagating(_:)`.
    public func binding<Value: Sendable>(
        _ local: ThreadLocalValue<Value>, to value: Value?
    ) -> ContextView<Self, Propagation> { with(.binding(local, to: value)) }
}

private func binder<Value: Sendable>(
    _ local: ThreadLocalValue<Value>, _ value: Value?
) -> @Sendable (@escaping Work) -> Work {
    { work in { local.withValue(value) { work() } } }
}
