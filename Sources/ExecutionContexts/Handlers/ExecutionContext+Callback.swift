// One overload for each number of arguments, and no parameter pack, for two reasons: with a tuple
// among the arguments Swift 6.3 crashes on the pack, and it diagnoses a closure with too few
// parameters in terms of packs. Always inlined: over an `any` context the compiler would otherwise
// call the general form, at twice the cost.

extension ExecutionContext {
    /// Wraps a completion handler without arguments, to run once on this context.
    ///
    /// A second call, and a handler that never runs, are reported to `onFault`.
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
    /// - The values that the context binds to jobs (`propagating`) are those of the wrapper.
    /// - Calls of several wrapped handlers run in the order that the context keeps. On `.immediate`
    ///   each runs before it returns.
    ///
    /// Three faults are reported to `onFault`: a second call, a wrapped handler that is released
    /// without a call, and a context that refuses or drops the handler. It is called where the
    /// fault is detected, after a handler that will not run was released.
    ///
    /// By default it writes to standard error and never traps: the fault is in the function that
    /// takes the handler, which you may be unable to change, and one that is cancelled may release
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
    /// A second call, and a handler that never runs, are reported to `onFault`.
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
    /// A second call, and a handler that never runs, are reported to `onFault`.
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

// A `@MainActor` closure does not convert to a plain `@Sendable` closure, so contexts on the
// main actor have overloads that take it with its isolation.

extension MainActorContext {
    /// Wraps a completion handler of the main actor without arguments, to run there once.
    public func callback(
        fileID: StaticString = #fileID, line: UInt = #line,
        _ handler: @escaping @MainActor @Sendable () -> Void,
        onFault: @escaping @Sendable (CallbackFault) -> Void = { $0.report() }
    ) -> @Sendable () -> Void {
        let plain: @Sendable () -> Void = { MainActor.assumeIsolated(handler) }
        return general.callback(fileID: fileID, line: line, plain, onFault: onFault)
    }

    /// Wraps a completion handler of the main actor, to run there once, whichever thread calls it.
    ///
    /// ```swift
    /// let show = MainContext().callback { (birds: [String]) in print(birds) }
    /// ```
    public func callback<First: Sendable>(
        fileID: StaticString = #fileID, line: UInt = #line,
        _ handler: @escaping @MainActor @Sendable (First) -> Void,
        onFault: @escaping @Sendable (CallbackFault) -> Void = { $0.report() }
    ) -> @Sendable (First) -> Void {
        let plain: @Sendable (First) -> Void = { first in
            MainActor.assumeIsolated { handler(first) }
        }
        return general.callback(fileID: fileID, line: line, plain, onFault: onFault)
    }

    /// Wraps a completion handler of the main actor with two arguments, to run there once.
    public func callback<First: Sendable, Second: Sendable>(
        fileID: StaticString = #fileID, line: UInt = #line,
        _ handler: @escaping @MainActor @Sendable (First, Second) -> Void,
        onFault: @escaping @Sendable (CallbackFault) -> Void = { $0.report() }
    ) -> @Sendable (First, Second) -> Void {
        let plain: @Sendable (First, Second) -> Void = { first, second in
            MainActor.assumeIsolated { handler(first, second) }
        }
        return general.callback(fileID: fileID, line: line, plain, onFault: onFault)
    }

    /// Wraps a completion handler of the main actor with three arguments, to run there once.
    public func callback<First: Sendable, Second: Sendable, Third: Sendable>(
        fileID: StaticString = #fileID, line: UInt = #line,
        _ handler: @escaping @MainActor @Sendable (First, Second, Third) -> Void,
        onFault: @escaping @Sendable (CallbackFault) -> Void = { $0.report() }
    ) -> @Sendable (First, Second, Third) -> Void {
        let plain: @Sendable (First, Second, Third) -> Void = { first, second, third in
            MainActor.assumeIsolated { handler(first, second, third) }
        }
        return general.callback(fileID: fileID, line: line, plain, onFault: onFault)
    }
}
