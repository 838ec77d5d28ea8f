extension Async {
    /// Calls a completion handler once, on `context`, with the value or the error; the other is
    /// nil.
    ///
    /// A function that offers a completion handler can thus be written with an `Async` (law 25):
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

    /// Calls a completion handler of the main actor once, on the main queue, with the value or the
    /// error.
    ///
    /// The other one is nil (law 25).
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
