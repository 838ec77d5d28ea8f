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
    @inlinable
    public func binding<Value: Sendable>(
        _ local: ThreadLocalValue<Value>, to value: Value?
    ) -> some ExecutionContext {
        Propagating(base: self, bind: binder(local, value))
    }
}

extension BarrierContext {
    /// This context, whose jobs see this value of a thread-local while they run.
    @inlinable
    public func binding<Value: Sendable>(
        _ local: ThreadLocalValue<Value>, to value: Value?
    ) -> some BarrierContext {
        Propagating(base: self, bind: binder(local, value))
    }
}

extension SerialContext {
    /// This context, whose jobs see this value of a thread-local while they run.
    @inlinable
    public func binding<Value: Sendable>(
        _ local: ThreadLocalValue<Value>, to value: Value?
    ) -> some SerialContext {
        Propagating(base: self, bind: binder(local, value))
    }
}

extension ActorBackingContext {
    /// This context, whose jobs see this value of a thread-local while they run.
    @inlinable
    public func binding<Value: Sendable>(
        _ local: ThreadLocalValue<Value>, to value: Value?
    ) -> some ActorBackingContext {
        Propagating(base: self, bind: binder(local, value))
    }
}

extension MainActorContext {
    /// This context, whose jobs see this value of a thread-local while they run.
    @inlinable
    public func binding<Value: Sendable>(
        _ local: ThreadLocalValue<Value>, to value: Value?
    ) -> some MainActorContext {
        Propagating(base: self, bind: binder(local, value))
    }
}

extension MainActorContext where Self: ActorBackingContext {
    /// This context, whose jobs see this value of a thread-local while they run.
    @inlinable
    public func binding<Value: Sendable>(
        _ local: ThreadLocalValue<Value>, to value: Value?
    ) -> some MainActorContext & ActorBackingContext {
        Propagating(base: self, bind: binder(local, value))
    }
}

@usableFromInline
func binder<Value: Sendable>(
    _ local: ThreadLocalValue<Value>, _ value: Value?
) -> @Sendable (@escaping Work) -> Work {
    { work in { local.withValue(value) { work() } } }
}
