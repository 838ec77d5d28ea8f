extension Async {
    /// Returns a future for a function with a completion handler that takes a `Result`.
    ///
    /// `start` receives the handler, whose first call completes the future:
    ///
    /// ```swift
    /// func load(_ name: String, completion: @escaping @Sendable (Result<Data, any Error>) -> Void) {}
    ///
    /// let data = Async.fromCallback { done in load("birds.json", completion: done) }
    /// ```
    ///
    /// There is one overload for each kind of handler: a `Result`, `(value?, error?)`, a value,
    /// `(error?)`, no argument. The compiler picks the one that the handler fits.
    ///
    /// - `start` runs inside this call. An error that it throws completes the future.
    /// - Any thread may call the handler (law 24). A further call does nothing and is reported to
    ///   `onFault`, which by default writes to standard error.
    /// - A handler that is released uncalled fails the future like a dropped promise (law 26).
    /// - A handler that takes a `Result` with an error type of its own makes a future of that
    ///   `Result`: `.map { try $0.get() }` leads on from there.
    ///
    /// With its second parameter, `start` registers what cancelling the future runs, for a handler
    /// that takes a `Result` or `(value?, error?)`:
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
    /// An error takes precedence. Without either, the future fails with `AsyncError.noOutcome`.
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

    // The compiler looks at the number of the closure's parameters first, so it tells these apart.

    /// Returns a cancellable future for a handler that takes a `Result`.
    ///
    /// - `onCancel` registers a closure that runs once when the future is cancelled, on the thread
    ///   that cancels; at once if it has been, and never after another completion.
    /// - `start` may register several closures, also after it has returned.
    /// - A call of the handler after cancelling changes nothing, and is no fault.
    /// - Closures that cancel futures with such closures nest 32 deep; a deeper one runs after the
    ///   call that cancelled has returned (law 25).
    ///
    /// The future retains the closure until it completes. Capture weakly what retains the handler:
    /// otherwise a handler that is never called keeps itself alive, and the future never completes.
    @inlinable
    public static func fromCallback(
        fileID: StaticString = #fileID, line: UInt = #line,
        _ start: (
            _ done: @escaping @Sendable (Outcome) -> Void,
            _ onCancel: @escaping @Sendable (@escaping Work) -> Void
        ) throws -> Void,
        onFault: @escaping @Sendable (CallbackFault) -> Void = { $0.report() }
    ) -> Async {
        Async(fileID, line, onFault) { promise, onCancel in
            try start({ outcome in promise.take()?.complete(with: outcome) }, onCancel)
        }
    }

    /// Returns a cancellable future for a handler that takes a value and an error, one of them nil.
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

    /// Calls `start` with a handler of any kind; an error that it throws completes the future.
    @usableFromInline
    init(
        _ fileID: StaticString, _ line: UInt,
        _ onFault: @escaping @Sendable (CallbackFault) -> Void,
        start: (
            _ promise: CallbackPromise, _ onCancel: @escaping @Sendable (@escaping Work) -> Void
        ) throws -> Void
    ) {
        let location = CodePlace(fileID, line)
        let state = PromiseState(location: location)
        self.init(state: state)
        let promise = CallbackPromise(state, location, onFault)
        // Until the error has completed the future: the promise's end would abandon it.
        withExtendedLifetime(promise) {
            do { try start(promise, { state.onCancel($0) }) } catch {
                state.complete(throwing: error)
            }
        }
    }
}

extension Async where Value == Void {
    /// Returns a future for a handler that takes an error, or nil for success.
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

/// What a handler made by `fromCallback` keeps: the state that its first call completes.
@usableFromInline
final class CallbackPromise: @unchecked Sendable {
    // Unchecked: `state` belongs to the first caller, or to `deinit` if there is no caller.
    private let call = Decision()
    private var state: PromiseState?
    private let location: CodePlace
    private var onFault: (@Sendable (CallbackFault) -> Void)?

    init(
        _ state: PromiseState, _ location: CodePlace,
        _ onFault: @escaping @Sendable (CallbackFault) -> Void
    ) {
        self.state = state
        self.location = location
        self.onFault = onFault
    }

    // No caller is left. Captures of the closure may hold the last reference to another promise.
    deinit {
        state?.abandon()
        Freeing.free(onFault.take())
    }

    /// Returns the future state to the first caller, and reports any other call.
    ///
    /// Taken out, so that a handler that was called does not keep the value alive (law 10).
    @usableFromInline
    func take() -> PromiseState? {
        if call.make() { return state.take() }
        onFault?(CallbackFault(reason: .calledAgain, context: nil, sourceLocation: location.call))
        return nil
    }
}

extension PromiseState {
    /// Completes the future with a value or an error; the error takes precedence.
    @inlinable
    func complete<Value>(with value: Value?, _ error: (any Error)?) {
        if let error {
            complete(throwing: error)
        } else if let value {
            complete(with: value)
        } else {
            complete(throwing: AsyncError.noOutcome)
        }
    }
}
