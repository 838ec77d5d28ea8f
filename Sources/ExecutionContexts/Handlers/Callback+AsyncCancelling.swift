// As the ones beside, with a second parameter for `start`. Told apart by the number of the closure's parameters, which
// the compiler sees first of all.

extension Async {
    /// What a completion handler is called with, a `Result`, and what to do when the `Async` is cancelled.
    ///
    /// `onCancel` takes a closure that runs once when the `Async` is cancelled, on the thread that cancels, or at once if
    /// it has been; never after another end. It can be given several, also when `start` has returned. A call of the handler
    /// that comes after cancelling changes nothing, and is no fault. Closures that cancel what has such closures nest
    /// 32 deep; from there on, each runs after the call that cancelled has returned (law 25).
    ///
    /// The closure is kept until the `Async` ends. If what it captures keeps the handler, let it capture that weakly, or
    /// a handler that nobody will call keeps itself alive, and the `Async` never ends.
    @inlinable
    public static func fromCallback(
        fileID: StaticString = #fileID, line: UInt = #line,
        _ start: (
            _ done: @escaping @Sendable (Outcome) -> Void,
            _ onCancel: @escaping @Sendable (@escaping Work) -> Void
        ) throws
            -> Void,
        onFault: @escaping @Sendable (CallbackFault) -> Void = { $0.report() }
    ) -> Async {
        Async(fileID, line, onFault) { promise, onCancel in
            try start({ outcome in promise.take()?.end(with: outcome) }, onCancel)
        }
    }

    /// What a completion handler is called with, and what to do on cancelling: a handler that takes a `Result` with an error of its own type.
    @inlinable
    public static func fromCallback<Failure: Error>(
        fileID: StaticString = #fileID, line: UInt = #line,
        _ start: (
            _ done: @escaping @Sendable (Result<Value, Failure>) -> Void,
            _ onCancel: @escaping @Sendable (@escaping Work) -> Void
        ) throws -> Void,
        onFault: @escaping @Sendable (CallbackFault) -> Void = { $0.report() }
    ) -> Async {
        Async(fileID, line, onFault) { promise, onCancel in
            try start({ outcome in promise.take()?.end(with: outcome.mapError { $0 }) }, onCancel)
        }
    }

    /// What a completion handler is called with, and what to do on cancelling: a handler that takes a value or an error, each of which may be nil.
    @inlinable
    public static func fromCallback(
        fileID: StaticString = #fileID, line: UInt = #line,
        _ start: (
            _ done: @escaping @Sendable (Value?, (any Error)?) -> Void,
            _ onCancel: @escaping @Sendable (@escaping Work) -> Void
        ) throws -> Void,
        onFault: @escaping @Sendable (CallbackFault) -> Void = { $0.report() }
    ) -> Async {
        Async(fileID, line, onFault) { promise, onCancel in
            try start({ value, error in promise.take()?.end(with: value, error) }, onCancel)
        }
    }

    /// What a completion handler is called with, and what to do on cancelling: a handler that takes a value.
    @_disfavoredOverload
    @inlinable
    public static func fromCallback(
        fileID: StaticString = #fileID, line: UInt = #line,
        _ start: (
            _ done: @escaping @Sendable (Value) -> Void,
            _ onCancel: @escaping @Sendable (@escaping Work) -> Void
        ) throws ->
            Void,
        onFault: @escaping @Sendable (CallbackFault) -> Void = { $0.report() }
    ) -> Async {
        Async(fileID, line, onFault) { promise, onCancel in
            try start({ value in promise.take()?.end(with: value) }, onCancel)
        }
    }
}

extension Async where Value == Void {
    /// What a completion handler is called with, and what to do on cancelling: a handler that takes an error or nil.
    @inlinable
    public static func fromCallback(
        fileID: StaticString = #fileID, line: UInt = #line,
        _ start: (
            _ done: @escaping @Sendable ((any Error)?) -> Void,
            _ onCancel: @escaping @Sendable (@escaping Work) -> Void
        )
            throws -> Void,
        onFault: @escaping @Sendable (CallbackFault) -> Void = { $0.report() }
    ) -> Async {
        Async(fileID, line, onFault) { promise, onCancel in
            try start({ error in promise.take()?.end(with: (), error) }, onCancel)
        }
    }

    /// What a completion handler is called with, and what to do on cancelling: a handler that takes nothing.
    @inlinable
    public static func fromCallback(
        fileID: StaticString = #fileID, line: UInt = #line,
        _ start: (
            _ done: @escaping @Sendable () -> Void, _ onCancel: @escaping @Sendable (@escaping Work) -> Void
        ) throws ->
            Void,
        onFault: @escaping @Sendable (CallbackFault) -> Void = { $0.report() }
    ) -> Async {
        Async(fileID, line, onFault) { promise, onCancel in
            try start({ promise.take()?.end(with: ()) }, onCancel)
        }
    }
}
