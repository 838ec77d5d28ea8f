// Overloads for the main context, with closures of the main actor. The general overloads are
// disfavored; otherwise the compiler would choose them and then reject such a closure.
extension Async {
    /// Calls a closure of the main actor with the outcome, once, on the main queue, as long as
    /// `token` is valid.
    ///
    /// Once the token has been invalidated on the main queue, the closure is not called (law 25).
    @discardableResult
    public func onComplete(
        on context: MainContext, while token: InvalidationToken? = nil,
        _ callback: @escaping @MainActor @Sendable (Outcome) -> Void
    ) -> Self {
        onComplete(on: context.general, while: token) { outcome in
            MainActor.assumeIsolated { callback(outcome) }
        }
    }

    /// Calls a closure of the main actor with the value, once, on the main queue, if it completes
    /// with one (law 25).
    @discardableResult
    public func onSuccess(
        on context: MainContext, _ callback: @escaping @MainActor @Sendable (Value) -> Void
    ) -> Self {
        onSuccess(on: context.general) { value in MainActor.assumeIsolated { callback(value) } }
    }

    /// Calls a closure of the main actor with the error, once, on the main queue, if it completes
    /// with one (law 25).
    @discardableResult
    public func onFailure(
        on context: MainContext, _ callback: @escaping @MainActor @Sendable (any Error) -> Void
    ) -> Self {
        onFailure(on: context.general) { error in MainActor.assumeIsolated { callback(error) } }
    }

    /// Returns a future of what a closure of the main actor returns for the value; passes on an
    /// error.
    public func map<NewValue: Sendable>(
        on context: MainContext,
        _ transform: @escaping @MainActor @Sendable (Value) throws -> NewValue
    ) -> Async<NewValue> {
        map(on: context.general) { value in try MainActor.assumeIsolated { try transform(value) } }
    }

    /// Returns a future that completes like the one that a closure of the main actor returns for
    /// this value.
    public func flatMap<NewValue: Sendable>(
        on context: MainContext,
        _ transform: @escaping @MainActor @Sendable (Value) throws -> Async<NewValue>
    ) -> Async<NewValue> {
        flatMap(on: context.general) { value in
            try MainActor.assumeIsolated { try transform(value) }
        }
    }

    /// Returns a future of the value, or of what a closure of the main actor returns for the error.
    public func recover(
        on context: MainContext,
        _ transform: @escaping @MainActor @Sendable (any Error) throws -> Value
    ) -> Async {
        recover(on: context.general) { error in
            try MainActor.assumeIsolated { try transform(error) }
        }
    }
}
