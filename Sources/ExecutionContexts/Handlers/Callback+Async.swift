extension Async {
    /// What a completion handler is called with: `start` hands it, as a `Result`, to whatever calls it.
    ///
    /// ```swift
    /// func load(_ name: String, completion: @escaping @Sendable (Result<Data, any Error>) -> Void) {}
    ///
    /// let data = Async.fromCallback { done in load("birds.json", completion: done) }
    /// ```
    ///
    /// There is one of these for each kind of handler - a `Result`, `(value?, error?)`, a value, `(error?)`, nothing - and
    /// the one is taken that the handler fits, whether it is passed on or called. `start` runs now, on the caller; an
    /// error that it throws ends the `Async`. So does the first call of the handler, wherever it comes from (law 24). A
    /// second call does nothing and is reported to `onFault`: on standard error, unless you say otherwise. Of a handler that
    /// is let go of without a call the `Async` says so, with the error of a dropped promise (law 26).
    ///
    /// What is to be done when the `Async` is cancelled, `start` says with its second parameter:
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
            try start({ outcome in promise.take()?.end(with: outcome) })
        }
    }

    /// What a completion handler is called with: a handler that takes a `Result` with an error of its own type.
    @inlinable
    public static func fromCallback<Failure: Error>(
        fileID: StaticString = #fileID, line: UInt = #line,
        _ start: (_ done: @escaping @Sendable (Result<Value, Failure>) -> Void) throws -> Void,
        onFault: @escaping @Sendable (CallbackFault) -> Void = { $0.report() }
    ) -> Async {
        Async(fileID, line, onFault) { promise, _ in
            try start({ outcome in promise.take()?.end(with: outcome.mapError { $0 }) })
        }
    }

    /// What a completion handler is called with: a handler that takes a value or an error, each of which may be nil.
    ///
    /// An error decides, whatever comes with it. Neither a value nor an error is `AsyncError.noOutcome`.
    @inlinable
    public static func fromCallback(
        fileID: StaticString = #fileID, line: UInt = #line,
        _ start: (_ done: @escaping @Sendable (Value?, (any Error)?) -> Void) throws -> Void,
        onFault: @escaping @Sendable (CallbackFault) -> Void = { $0.report() }
    ) -> Async {
        Async(fileID, line, onFault) { promise, _ in
            try start({ value, error in promise.take()?.end(with: value, error) })
        }
    }

    /// What a completion handler is called with: a handler that takes a value.
    ///
    /// It never fails, but for a `start` that throws and a handler that is let go of.
    @_disfavoredOverload
    @inlinable
    public static func fromCallback(
        fileID: StaticString = #fileID, line: UInt = #line,
        _ start: (_ done: @escaping @Sendable (Value) -> Void) throws -> Void,
        onFault: @escaping @Sendable (CallbackFault) -> Void = { $0.report() }
    ) -> Async {
        Async(fileID, line, onFault) { promise, _ in
            try start({ value in promise.take()?.end(with: value) })
        }
    }
}

extension Async where Value == Void {
    /// What a completion handler is called with: a handler that takes an error or nil.
    ///
    /// No error is success.
    @inlinable
    public static func fromCallback(
        fileID: StaticString = #fileID, line: UInt = #line,
        _ start: (_ done: @escaping @Sendable ((any Error)?) -> Void) throws -> Void,
        onFault: @escaping @Sendable (CallbackFault) -> Void = { $0.report() }
    ) -> Async {
        Async(fileID, line, onFault) { promise, _ in
            try start({ error in promise.take()?.end(with: (), error) })
        }
    }

    /// What a completion handler is called with: a handler that takes nothing.
    @inlinable
    public static func fromCallback(
        fileID: StaticString = #fileID, line: UInt = #line,
        _ start: (_ done: @escaping @Sendable () -> Void) throws -> Void,
        onFault: @escaping @Sendable (CallbackFault) -> Void = { $0.report() }
    ) -> Async {
        Async(fileID, line, onFault) { promise, _ in
            try start({ promise.take()?.end(with: ()) })
        }
    }
}
