// Closures of the main actor for the main context. The general twins are disfavoured, or they would be chosen and then
// refuse such a closure.
extension Async {
    /// Calls a closure of the main actor with the outcome, once, on the main queue (law 25).
    @discardableResult
    public func onComplete(
        on context: MainContext, _ callback: @escaping @MainActor @Sendable (Outcome) -> Void
    ) -> Self {
        onComplete(on: context.general) { outcome in MainActor.assumeIsolated { callback(outcome) } }
    }

    /// Calls a closure of the main actor with the outcome on the main queue, at most once, as long as `token` is valid.
    ///
    /// After the token was invalidated on the main queue, the closure is not called (law 25).
    @discardableResult
    public func onComplete(
        on context: MainContext, while token: InvalidationToken,
        _ callback: @escaping @MainActor @Sendable (Outcome) -> Void
    ) -> Self {
        onComplete(on: context.general, while: token) { outcome in
            MainActor.assumeIsolated { callback(outcome) }
        }
    }

    /// Calls a closure of the main actor with the value, once, on the main queue, if it ends with one (law 25).
    @discardableResult
    public func onSuccess(
        on context: MainContext, _ callback: @escaping @MainActor @Sendable (Value) -> Void
    ) -> Self {
        onSuccess(on: context.general) { value in MainActor.assumeIsolated { callback(value) } }
    }

    /// Calls a closure of the main actor with the error, once, on the main queue, if it ends with one (law 25).
    @discardableResult
    public func onFailure(
        on context: MainContext, _ callback: @escaping @MainActor @Sendable (any Error) -> Void
    ) -> Self {
        onFailure(on: context.general) { error in MainActor.assumeIsolated { callback(error) } }
    }

    /// What a closure of the main actor makes of the value, on the main queue; an error is passed on.
    public func map<NewValue: Sendable>(
        on context: MainContext, _ transform: @escaping @MainActor @Sendable (Value) throws -> NewValue
    ) -> Async<NewValue> {
        map(on: context.general) { value in try MainActor.assumeIsolated { try transform(value) } }
    }

    /// The value that the `Async` will bring which a closure of the main actor makes of this value, on the main queue.
    public func flatMap<NewValue: Sendable>(
        on context: MainContext,
        _ transform: @escaping @MainActor @Sendable (Value) throws -> Async<NewValue>
    ) -> Async<NewValue> {
        flatMap(on: context.general) { value in try MainActor.assumeIsolated { try transform(value) } }
    }

    /// The value, or what a closure of the main actor makes of the error, on the main queue.
    public func recover(
        on context: MainContext, _ transform: @escaping @MainActor @Sendable (any Error) throws -> Value
    ) -> Async {
        recover(on: context.general) { error in try MainActor.assumeIsolated { try transform(error) } }
    }
}
