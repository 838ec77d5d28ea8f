// One overload for each number of arguments, and no parameter pack, for two reasons: with a tuple
// among the arguments Swift 6.3 crashes on the pack, and it diagnoses a closure with too few
// parameters in terms of packs. Always inlined: over an `any` context the compiler would otherwise
// call the general form, at twice the cost.

extension ExecutionContext {
    /// Wraps a completion handler without arguments, to run once on this context.
    ///
    /// A second call, and a handler that will never run, are reported to `onFault`.
    @_disfavoredOverload
    @inlinable @inline(__always)
    public func callback(
        fileID: StaticString = #fileID, line: UInt = #line,
        _ handler: @escaping @Sendable () -> Void,
        onFault: @escaping @Sendable (CallbackFault) -> Void = { $0.report() }
    ) -> @Sendable () -> Void {
        Handler0(handler).wrapped(for: self, fileID, line, onFault)
    }

    /// Wraps a completion handler, to run once on this context, whichever thread calls it.
    ///
    /// Pass the wrapped handler to a function that calls back on a thread of its own:
    ///
    /// ```swift
    /// let task = URLSession.shared.dataTask(
    ///     with: url,
    ///     completionHandler: context.callback { data, response, error in
    ///         print(data?.count ?? 0)
    ///     })
    /// ```
    ///
    /// - The first call counts, on any thread. A second call does nothing (law 24).
    /// - This context releases the handler and its captures right after it ran (law 10), even if
    ///   the wrapped handler is still referenced.
    /// - The values that the context binds to jobs (`propagating`) are those of the caller that
    ///   wraps the handler.
    /// - Calls of several wrapped handlers run in the order that the context keeps. On `.immediate`
    ///   each runs before it returns.
    ///
    /// Three faults are reported to `onFault`: a second call, a wrapped handler that is released
    /// without a call, and a context that refuses or drops the handler. By default `onFault` writes
    /// to standard error. It is called at once, where the fault is detected, not necessarily on
    /// this context. A handler that will not run has been released by then.
    ///
    /// The default never traps, not even in debug builds. The fault is in the function that takes
    /// the handler, which you may be unable to change, and a function that is cancelled may release
    /// its handler without a call. To trap, pass `{ fatalError("\($0)") }`.
    ///
    /// - Returns: a handler of the same type, which any thread may call.
    @_disfavoredOverload
    @inlinable @inline(__always)
    public func callback<First: Sendable>(
        fileID: StaticString = #fileID, line: UInt = #line,
        _ handler: @escaping @Sendable (First) -> Void,
        onFault: @escaping @Sendable (CallbackFault) -> Void = { $0.report() }
    ) -> @Sendable (First) -> Void {
        Handler1(handler).wrapped(for: self, fileID, line, onFault)
    }

    /// Wraps a completion handler with two arguments, to run once on this context.
    ///
    /// A second call, and a handler that will never run, are reported to `onFault`.
    @_disfavoredOverload
    @inlinable @inline(__always)
    public func callback<First: Sendable, Second: Sendable>(
        fileID: StaticString = #fileID, line: UInt = #line,
        _ handler: @escaping @Sendable (First, Second) -> Void,
        onFault: @escaping @Sendable (CallbackFault) -> Void = { $0.report() }
    ) -> @Sendable (First, Second) -> Void {
        Handler2(handler).wrapped(for: self, fileID, line, onFault)
    }

    /// Wraps a completion handler with three arguments, to run once on this context.
    ///
    /// A second call, and a handler that will never run, are reported to `onFault`.
    @_disfavoredOverload
    @inlinable @inline(__always)
    public func callback<First: Sendable, Second: Sendable, Third: Sendable>(
        fileID: StaticString = #fileID, line: UInt = #line,
        _ handler: @escaping @Sendable (First, Second, Third) -> Void,
        onFault: @escaping @Sendable (CallbackFault) -> Void = { $0.report() }
    ) -> @Sendable (First, Second, Third) -> Void {
        Handler3(handler).wrapped(for: self, fileID, line, onFault)
    }
}
