extension Async {
    /// Returns a future of `transform(value)`, run on `context`; an error is passed on.
    ///
    /// An error that `transform` throws is the outcome as well.
    @_disfavoredOverload
    @inlinable
    public func map<NewValue: Sendable>(
        on context: some ExecutionContext = .immediate,
        fileID: StaticString = #fileID, line: UInt = #line,
        _ transform: @escaping @Sendable (Value) throws -> NewValue
    ) -> Async<NewValue> {
        derived(.map, on: context, fileID, line) { source, derived in
            derived.completeByValue(of: source) { value in
                derived.complete(with: try transform(value))
            }
        }
    }

    /// Returns a future that completes like the one `transform` returns for this value, on
    /// `context`.
    @_disfavoredOverload
    @inlinable
    public func flatMap<NewValue: Sendable>(
        on context: some ExecutionContext = .immediate,
        fileID: StaticString = #fileID, line: UInt = #line,
        _ transform: @escaping @Sendable (Value) throws -> Async<NewValue>
    ) -> Async<NewValue> {
        derived(.flatMap, on: context, fileID, line) { source, derived in
            derived.completeByValue(of: source) { value in derived.follow(try transform(value)) }
        }
    }

    /// Returns a future of the value, or of the error that `transform` returns for the error, on
    /// `context`.
    @_disfavoredOverload
    @inlinable
    public func mapError(
        on context: some ExecutionContext = .immediate,
        fileID: StaticString = #fileID, line: UInt = #line,
        _ transform: @escaping @Sendable (any Error) -> any Error
    ) -> Async {
        derived(.mapError, on: context, fileID, line) { source, derived in
            derived.completeByError(of: source, Value.self) {
                derived.complete(throwing: transform($0))
            }
        }
    }

    /// Returns a future of the value, or of what `transform` returns for the error, on `context`.
    ///
    /// If `transform` throws, its error is the outcome.
    @_disfavoredOverload
    @inlinable
    public func recover(
        on context: some ExecutionContext = .immediate,
        fileID: StaticString = #fileID, line: UInt = #line,
        _ transform: @escaping @Sendable (any Error) throws -> Value
    ) -> Async {
        derived(.recover, on: context, fileID, line) { source, derived in
            derived.completeByError(of: source, Value.self) {
                derived.complete(with: try transform($0))
            }
        }
    }

    /// Returns a future of the value; for an error, one that completes like the one `transform`
    /// returns, on `context`.
    @_disfavoredOverload
    @inlinable
    public func flatRecover(
        on context: some ExecutionContext = .immediate,
        fileID: StaticString = #fileID, line: UInt = #line,
        _ transform: @escaping @Sendable (any Error) throws -> Async
    ) -> Async {
        derived(.flatRecover, on: context, fileID, line) { source, derived in
            derived.completeByError(of: source, Value.self) { derived.follow(try transform($0)) }
        }
    }

    /// Returns a future whose propagation runs on `context`, when this completes in the way that
    /// `kind` is for.
    @inlinable
    func derived<NewValue>(
        _ kind: Derived.Kind, on context: some ExecutionContext, _ fileID: StaticString,
        _ line: UInt, _ propagation: @escaping FutureState.Propagation
    ) -> Async<NewValue> {
        Async<NewValue>(
            state: Derived.from(state, kind, ContextHop.to(context, fileID, line), propagation))
    }
}

// Inlined into the propagation, which so captures the user's function and nothing else.
extension FutureState {
    /// Completes it by `body`, which gets the value of `source`; passes an error on.
    @inlinable @inline(__always)
    final func completeByValue<Value>(of source: FutureState, _ body: (Value) throws -> Void) {
        if let error = source.error { return _ = complete(throwing: error) }
        do { try body(source.load()) } catch { complete(throwing: error) }
    }

    /// Completes it by `body`, which gets the error of `source`; passes a value on.
    @inlinable @inline(__always)
    final func completeByError<Value>(
        of source: FutureState, _ type: Value.Type, _ body: (any Error) throws -> Void
    ) {
        guard let error = source.error else { return complete(like: source, type) }
        do { try body(error) } catch { complete(throwing: error) }
    }

    /// Completes it like another future, once that has completed.
    @inlinable @inline(__always)
    final func follow<Value>(_ other: Async<Value>) { follow(other.state, Self.copy(Value.self)) }

    /// The propagation that completes a state like its source, whose value is of this type.
    @inlinable @inline(__always)
    static func copy<Value>(_ type: Value.Type) -> Propagation {
        { source, state in state.complete(like: source, Value.self) }
    }
}
