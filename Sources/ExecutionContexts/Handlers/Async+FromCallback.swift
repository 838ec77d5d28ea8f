extension Async {
    /// Returns a future for a function with a completion handler that takes a `Result`.
    ///
    /// `start` receives the handler. The first call of the handler completes the future:
    ///
    /// ```swift
    /// func load(_ name: String, completion: @escaping @Sendable (Result<Data, any Error>) -> Void) {}
    ///
    /// let data = Async.fromCallback { done in load("birds.json", completion: done) }
    /// ```
    ///
    /// There is one overload for each kind of handler: a `Result`, `(value?, error?)`, a value,
    /// `(error?)`, no argument. The compiler picks the one that the handler fits, whether `start`
    /// passes the handler on or calls it.
    ///
    /// - `start` runs inside this call. An error that it throws completes the future.
    /// - The first call of the handler completes the future, on any thread (law 24). A further call
    ///   does nothing and is reported to `onFault`, which by default writes to standard error.
    /// - If the handler is released without a call, the future completes with the error of a
    ///   dropped promise (law 26).
    /// - A handler that takes a `Result` with an error type of its own makes a future of that
    ///   `Result`: `.map { try $0.get() }` leads on from there.
    ///
    /// With its second parameter, `start` registers what cancelling the future runs. The handler
    /// then takes a `Result` or `(value?, error?)`:
    ///
    /// ```swift
    /// let data = Async<Data>.fromCallback { done, onCancel in
    ///     let task = URLSession.shared.dataTask(with: url) { data, _, error in done(data, error) }
    ///     onCancel { task.cancel() }
    ///     task.resume()
    /// }
    /// ```
    @inlinable
    public static func fromCallback(
        fileID: StaticString = #fileID, line: UInt = #line,
        _ start: (_ done: @escaping @Sendable (Outcome) -> Void) throws -> Void,
        onFault: @escaping @Sendable (CallbackFault) -> Void = { $0.report() }
    ) -> Async {
        Async(fileID, line, onFault) { promise, _ in
            try start({ outcome in promise.take()?.complete(with: outcome) })
        }
    }

    /// Returns a future for a handler that takes a value or an error, each of which may be nil.
    ///
    /// If there is an error, the future fails with it, even if there is a value. If there is
    /// neither, the future fails with `AsyncError.noOutcome`.
    @inlinable
    public static func fromCallback(
        fileID: StaticString = #fileID, line: UInt = #line,
        _ start: (_ done: @escaping @Sendable (Value?, (any Error)?) -> Void) throws -> Void,
        onFault: @escaping @Sendable (CallbackFault) -> Void = { $0.report() }
    ) -> Async {
        Async(fileID, line, onFault) { promise, _ in
            try start({ value, error in promise.take()?.complete(with: value, error) })
        }
    }

    /// Returns a future for a handler that takes a value.
    ///
    /// The future fails only if `start` throws, or if the handler is released without a call.
    @_disfavoredOverload
    @inlinable
    public static func fromCallback(
        fileID: StaticString = #fileID, line: UInt = #line,
        _ start: (_ done: @escaping @Sendable (Value) -> Void) throws -> Void,
        onFault: @escaping @Sendable (CallbackFault) -> Void = { $0.report() }
    ) -> Async {
        Async(fileID, line, onFault) { promise, _ in
            try start({ value in promise.take()?.complete(with: value) })
        }
    }
}

extension Async where Value == Void {
    /// Returns a future for a handler that takes an error or nil.
    ///
    /// No error means success.
    @inlinable
    public static func fromCallback(
        fileID: StaticString = #fileID, line: UInt = #line,
        _ start: (_ done: @escaping @Sendable ((any Error)?) -> Void) throws -> Void,
        onFault: @escaping @Sendable (CallbackFault) -> Void = { $0.report() }
    ) -> Async {
        Async(fileID, line, onFault) { promise, _ in
            try start({ error in promise.take()?.complete(with: (), error) })
        }
    }

    /// Returns a future for a handler that takes no argument.
    @inlinable
    public static func fromCallback(
        fileID: StaticString = #fileID, line: UInt = #line,
        _ start: (_ done: @escaping @Sendable () -> Void) throws -> Void,
        onFault: @escaping @Sendable (CallbackFault) -> Void = { $0.report() }
    ) -> Async {
        Async(fileID, line, onFault) { promise, _ in
            try start({ promise.take()?.complete(with: ()) })
        }
    }
}

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
