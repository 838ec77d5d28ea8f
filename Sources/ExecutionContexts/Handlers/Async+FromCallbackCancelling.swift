// Overloads of Async+FromCallback with a second parameter for `start`. The compiler tells them
// apart by the number of the closure's parameters, which it looks at first.

extension Async {
    /// Returns a cancellable future for a handler that takes a `Result`.
    ///
    /// - `onCancel` registers a closure that runs once when the future is cancelled, on the thread
    ///   that cancels. If the future has been cancelled already, the closure runs at once. After
    ///   any other completion it never runs.
    /// - `start` may register several closures, also after it has returned.
    /// - A call of the handler after cancelling changes nothing, and is no fault.
    /// - A closure may cancel another future that has such closures. They nest 32 deep; a deeper
    ///   one runs after the call that cancelled has returned (law 25).
    ///
    /// The future retains the closure until it completes. If the captures of the closure retain the
    /// handler, capture them weakly. Otherwise a handler that is never called keeps itself alive,
    /// and the future never completes.
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
            try start({ outcome in promise.take()?.complete(with: outcome) }, onCancel)
        }
    }

    /// Returns a cancellable future for a handler that takes a value or an error, either of them
    /// nil.
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
            try start({ value, error in promise.take()?.complete(with: value, error) }, onCancel)
        }
    }
}
