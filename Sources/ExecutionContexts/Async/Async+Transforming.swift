extension Async {
    /// Returns a future of `transform(value)`, run on `context`; an error is passed on.
    ///
    /// An error that `transform` throws is the outcome as well.
    @inlinable
    public func map<NewValue: Sendable>(
        on context: some ExecutionContext = .immediate,
        _ transform: @escaping @Sendable (Value) throws -> NewValue
    ) -> Async<NewValue> {
        Async<NewValue>(
            state: Derived.from(state, .map, ContextHop.to(context)) { source, derived in
                if let error = source.error { return _ = derived.end(throwing: error) }
                do {
                    derived.end(with: try transform(source.load()))
                } catch {
                    derived.end(throwing: error)
                }
            })
    }

    /// Returns a future that completes like the one `transform` returns for this value, on
    /// `context`.
    @inlinable
    public func flatMap<NewValue: Sendable>(
        on context: some ExecutionContext = .immediate,
        _ transform: @escaping @Sendable (Value) throws -> Async<NewValue>
    ) -> Async<NewValue> {
        Async<NewValue>(
            state: Derived.from(state, .flatMap, ContextHop.to(context)) { source, derived in
                if let error = source.error { return _ = derived.end(throwing: error) }
                do {
                    derived.follow(try transform(source.load()).state) { source, derived in
                        derived.end(like: source, NewValue.self)
                    }
                } catch {
                    derived.end(throwing: error)
                }
            })
    }

    /// Returns a future of the value, or of the error that `transform` returns for the error, on
    /// `context`.
    @inlinable
    public func mapError(
        on context: some ExecutionContext = .immediate,
        _ transform: @escaping @Sendable (any Error) -> any Error
    ) -> Async {
        Async(
            state: Derived.from(state, .mapError, ContextHop.to(context)) { source, derived in
                guard let error = source.error else { return derived.end(like: source, Value.self) }
                derived.end(throwing: transform(error))
            })
    }

    /// Returns a future of the value, or of what `transform` returns for the error, on `context`.
    ///
    /// If `transform` throws, its error is the outcome.
    @inlinable
    public func recover(
        on context: some ExecutionContext = .immediate,
        _ transform: @escaping @Sendable (any Error) throws -> Value
    ) -> Async {
        Async(
            state: Derived.from(state, .recover, ContextHop.to(context)) { source, derived in
                guard let error = source.error else { return derived.end(like: source, Value.self) }
                do {
                    derived.end(with: try transform(error))
                } catch {
                    derived.end(throwing: error)
                }
            })
    }

    /// Returns a future of the value; for an error, one that completes like the one `transform`
    /// returns, on `context`.
    @inlinable
    public func flatRecover(
        on context: some ExecutionContext = .immediate,
        _ transform: @escaping @Sendable (any Error) throws -> Async
    ) -> Async {
        Async(
            state: Derived.from(state, .flatRecover, ContextHop.to(context)) { source, derived in
                guard let error = source.error else { return derived.end(like: source, Value.self) }
                do {
                    derived.follow(try transform(error).state) { source, derived in
                        derived.end(like: source, Value.self)
                    }
                } catch {
                    derived.end(throwing: error)
                }
            })
    }
}
