// Overloads for contexts on the main actor, with its closures. The general overloads are
// disfavored; otherwise the compiler would choose them and then reject such a closure.
extension Async {
    /// Calls a closure of the main actor with the outcome, once, as long as `token` is valid.
    ///
    /// Once the token has been invalidated on the main actor, the closure is not called (law 25).
    @discardableResult
    public func onComplete(
        on context: some MainActorContext, while token: InvalidationToken? = nil,
        fileID: StaticString = #fileID, line: UInt = #line,
        _ callback: @escaping @MainActor @Sendable (Outcome) -> Void
    ) -> Self {
        onComplete(on: context.general, while: token, fileID: fileID, line: line) { outcome in
            MainActor.assumeIsolated { callback(outcome) }
        }
    }

    /// Calls a closure of the main actor with the value, if it comes and `token` is valid (law 25).
    @discardableResult
    public func onSuccess(
        on context: some MainActorContext, while token: InvalidationToken? = nil,
        fileID: StaticString = #fileID, line: UInt = #line,
        _ callback: @escaping @MainActor @Sendable (Value) -> Void
    ) -> Self {
        onSuccess(on: context.general, while: token, fileID: fileID, line: line) { value in
            MainActor.assumeIsolated { callback(value) }
        }
    }

    /// Calls a closure of the main actor with the error, if it comes and `token` is valid (law 25).
    @discardableResult
    public func onFailure(
        on context: some MainActorContext, while token: InvalidationToken? = nil,
        fileID: StaticString = #fileID, line: UInt = #line,
        _ callback: @escaping @MainActor @Sendable (any Error) -> Void
    ) -> Self {
        onFailure(on: context.general, while: token, fileID: fileID, line: line) { error in
            MainActor.assumeIsolated { callback(error) }
        }
    }

    /// Returns a future of what a closure of the main actor returns for the value.
    public func map<NewValue: Sendable>(
        on context: some MainActorContext,
        fileID: StaticString = #fileID, line: UInt = #line,
        _ transform: @escaping @MainActor @Sendable (Value) throws -> NewValue
    ) -> Async<NewValue> {
        map(on: context.general, fileID: fileID, line: line) { value in
            try MainActor.assumeIsolated { try transform(value) }
        }
    }

    /// Returns a future that follows what a closure of the main actor returns for the value.
    public func flatMap<NewValue: Sendable>(
        on context: some MainActorContext,
        fileID: StaticString = #fileID, line: UInt = #line,
        _ transform: @escaping @MainActor @Sendable (Value) throws -> Async<NewValue>
    ) -> Async<NewValue> {
        flatMap(on: context.general, fileID: fileID, line: line) { value in
            try MainActor.assumeIsolated { try transform(value) }
        }
    }

    /// Returns a future of the value, or of what a closure of the main actor returns for the error.
    public func recover(
        on context: some MainActorContext,
        fileID: StaticString = #fileID, line: UInt = #line,
        _ transform: @escaping @MainActor @Sendable (any Error) throws -> Value
    ) -> Async {
        recover(on: context.general, fileID: fileID, line: line) { error in
            try MainActor.assumeIsolated { try transform(error) }
        }
    }

    /// Returns a future of the value, or of the error that a closure of the main actor returns.
    public func mapError(
        on context: some MainActorContext,
        fileID: StaticString = #fileID, line: UInt = #line,
        _ transform: @escaping @MainActor @Sendable (any Error) -> any Error
    ) -> Async {
        mapError(on: context.general, fileID: fileID, line: line) { error in
            MainActor.assumeIsolated { transform(error) }
        }
    }

    /// Returns a future of the value, or one that follows what a closure of the main actor returns.
    public func flatRecover(
        on context: some MainActorContext,
        fileID: StaticString = #fileID, line: UInt = #line,
        _ transform: @escaping @MainActor @Sendable (any Error) throws -> Async
    ) -> Async {
        flatRecover(on: context.general, fileID: fileID, line: line) { error in
            try MainActor.assumeIsolated { try transform(error) }
        }
    }

    /// Calls a closure of the main actor with the outcome, once, as a side effect (law 26).
    @discardableResult
    public func tap(
        on context: some MainActorContext,
        fileID: StaticString = #fileID, line: UInt = #line,
        _ callback: @escaping @MainActor @Sendable (Outcome) -> Void
    ) -> Self {
        tap(on: context.general, fileID: fileID, line: line) { outcome in
            MainActor.assumeIsolated { callback(outcome) }
        }
    }

    /// Returns a future with the same outcome that completes after a closure of the main actor.
    public func andThen(
        on context: some MainActorContext,
        fileID: StaticString = #fileID, line: UInt = #line,
        _ body: @escaping @MainActor @Sendable (Outcome) -> Void
    ) -> Async {
        andThen(on: context.general, fileID: fileID, line: line) { outcome in
            MainActor.assumeIsolated { body(outcome) }
        }
    }

    /// Returns a future that its first interested subscriber begins, on the main actor (law 26).
    public static func lazy(
        on context: some MainActorContext, fileID: StaticString = #fileID, line: UInt = #line,
        _ body: @escaping @MainActor @Sendable () throws -> Async
    ) -> Async {
        lazy(on: context.general, fileID: fileID, line: line) {
            try MainActor.assumeIsolated { try body() }
        }
    }

    /// Returns a future of the first attempt that succeeds, or of the last, on the main actor.
    public static func retry(
        attempts: Int, backoff: Backoff = .none, within budget: Duration? = nil,
        on context: some MainActorContext,
        fileID: StaticString = #fileID, line: UInt = #line,
        while isWorthwhile: @escaping @Sendable (any Error) -> Bool = { _ in true },
        _ body: @escaping @MainActor @Sendable (_ attempt: Int) throws -> Async
    ) -> Async {
        retry(
            attempts: attempts, backoff: backoff, within: budget, on: context.general,
            fileID: fileID, line: line, while: isWorthwhile
        ) { attempt in try MainActor.assumeIsolated { try body(attempt) } }
    }

    /// Returns a future of what a closure of the main actor provides for the elements, in order.
    public static func traverse<Elements: Sequence & Sendable>(
        _ elements: Elements, atMost limit: Int, on context: some MainActorContext,
        fileID: StaticString = #fileID, line: UInt = #line,
        _ body: @escaping @MainActor @Sendable (Elements.Element) throws -> Async
    ) -> Async<[Value]> where Elements.Element: Sendable {
        traverse(elements, atMost: limit, on: context.general, fileID: fileID, line: line) {
            element in
            try MainActor.assumeIsolated { try body(element) }
        }
    }
}
