extension Async {
    /// What `transform` makes of the value, on `context`; an error, its own included, is passed on.
    @inlinable
    public func map<NewValue: Sendable>(
        on context: some ExecutionContext = .immediate,
        _ transform: @escaping @Sendable (Value) throws -> NewValue
    ) -> Async<NewValue> {
        Async<NewValue>(
            cell: Derived.from(cell, .map, Hop.to(context)) { source, derived in
                if let error = source.error { return _ = derived.end(throwing: error) }
                do {
                    derived.end(with: try transform(source.load()))
                } catch {
                    derived.end(throwing: error)
                }
            })
    }

    /// The value that the `Async` will bring which `transform` makes of this value, on `context`.
    @inlinable
    public func flatMap<NewValue: Sendable>(
        on context: some ExecutionContext = .immediate,
        _ transform: @escaping @Sendable (Value) throws -> Async<NewValue>
    ) -> Async<NewValue> {
        Async<NewValue>(
            cell: Derived.from(cell, .flatMap, Hop.to(context)) { source, derived in
                if let error = source.error { return _ = derived.end(throwing: error) }
                do {
                    derived.follow(try transform(source.load()).cell) { source, derived in
                        derived.end(like: source, NewValue.self)
                    }
                } catch {
                    derived.end(throwing: error)
                }
            })
    }

    /// The same with another error: what `transform` makes of it, on `context`.
    @inlinable
    public func mapError(
        on context: some ExecutionContext = .immediate,
        _ transform: @escaping @Sendable (any Error) -> any Error
    ) -> Async {
        Async(
            cell: Derived.from(cell, .mapError, Hop.to(context)) { source, derived in
                guard let error = source.error else { return derived.end(like: source, Value.self) }
                derived.end(throwing: transform(error))
            })
    }

    /// The value, or what `transform` makes of the error, on `context`; if it throws, that is the new error.
    @inlinable
    public func recover(
        on context: some ExecutionContext = .immediate,
        _ transform: @escaping @Sendable (any Error) throws -> Value
    ) -> Async {
        Async(
            cell: Derived.from(cell, .recover, Hop.to(context)) { source, derived in
                guard let error = source.error else { return derived.end(like: source, Value.self) }
                do {
                    derived.end(with: try transform(error))
                } catch {
                    derived.end(throwing: error)
                }
            })
    }

    /// The value, or what the `Async` will bring which `transform` makes of the error, on `context`.
    @inlinable
    public func flatRecover(
        on context: some ExecutionContext = .immediate,
        _ transform: @escaping @Sendable (any Error) throws -> Async
    ) -> Async {
        Async(
            cell: Derived.from(cell, .flatRecover, Hop.to(context)) { source, derived in
                guard let error = source.error else { return derived.end(like: source, Value.self) }
                do {
                    derived.follow(try transform(error).cell) { source, derived in
                        derived.end(like: source, Value.self)
                    }
                } catch {
                    derived.end(throwing: error)
                }
            })
    }
}
