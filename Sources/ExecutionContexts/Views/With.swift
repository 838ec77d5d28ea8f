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
