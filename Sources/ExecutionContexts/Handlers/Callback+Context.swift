// One for each number of arguments, not one with a parameter pack: with a tuple among the arguments Swift 6.3 crashes
// on the pack, and it explains a closure with too few parameters by the shape of packs. Always inlined, since over an
// `any` context the compiler would else call the general form, at twice the cost.

extension ExecutionContext {
    /// Wraps a completion handler without arguments, to be run here once, wherever it is called from.
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

    /// Wraps a completion handler, to be run here once, wherever it is called from.
    ///
    /// Give the wrapped handler to a function that calls back in a place of its own:
    ///
    /// ```swift
    /// let task = URLSession.shared.dataTask(
    ///     with: url,
    ///     completionHandler: context.callback { data, response, error in
    ///         print(data?.count ?? 0)
    ///     })
    /// ```
    ///
    /// The first call counts, whichever thread it comes from. A second one does nothing (law 24). The handler and
    /// what it captures are released on this context right after it ran (law 10), also while the wrapped handler
    /// is still kept. What the context binds to work - `propagating` - is taken where the handler is wrapped. Calls of
    /// several wrapped handlers run in the order that the context keeps, and on `.immediate` before they return.
    ///
    /// A second call, a wrapped handler that is let go of without a call, and a context that refuses or loses the
    /// handler are reported to `onFault`, which says so on standard error unless you give another. It is called at
    /// once, where the fault is noticed, and not necessarily on this context; a handler that will not run has been
    /// released by then. The default stops no program, debug builds neither: the mistake is that of a function you
    /// may not be able to change, and one that is cancelled may well let go of its handler. Where it should stop,
    /// pass `{ fatalError("\($0)") }`.
    ///
    /// - Returns: a handler of the same type, which may be called from anywhere.
    @_disfavoredOverload
    @inlinable @inline(__always)
    public func callback<First: Sendable>(
        fileID: StaticString = #fileID, line: UInt = #line,
        _ handler: @escaping @Sendable (First) -> Void,
        onFault: @escaping @Sendable (CallbackFault) -> Void = { $0.report() }
    ) -> @Sendable (First) -> Void {
        Handler1(handler).wrapped(for: self, fileID, line, onFault)
    }

    /// Wraps a completion handler with two arguments, to be run here once, wherever it is called from.
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

    /// Wraps a completion handler with three arguments, to be run here once, wherever it is called from.
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
