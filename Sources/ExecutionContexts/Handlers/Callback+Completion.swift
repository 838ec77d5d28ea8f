extension Async {
    /// Calls a completion handler with the value or the error, once, on `context`; the other one is nil (law 25).
    ///
    /// So that code which offers a completion handler can be written with an `Async`:
    ///
    /// ```swift
    /// func load(on context: any ExecutionContext, completion: @escaping @Sendable (Data?, (any Error)?) -> Void) {
    ///     Async(.success(Data())).onComplete(on: context, completion)
    /// }
    /// ```
    @inlinable
    @discardableResult
    @_disfavoredOverload
    public func onComplete(
        on context: some ExecutionContext = .immediate,
        _ completion: @escaping @Sendable (Value?, (any Error)?) -> Void
    ) -> Self {
        onComplete(on: context) { outcome in
            switch outcome {
            case .success(let value): completion(value, nil)
            case .failure(let error): completion(nil, error)
            }
        }
    }

    /// Calls a completion handler of the main actor with the value or the error, once, on the main queue (law 25).
    @discardableResult
    public func onComplete(
        on context: MainContext,
        _ completion: @escaping @MainActor @Sendable (Value?, (any Error)?) -> Void
    ) -> Self {
        onComplete(on: context.general) { value, error in
            MainActor.assumeIsolated { completion(value, error) }
        }
    }
}
