extension Async {
    /// Calls `callback` with the outcome, once, on `context`; now if it has ended (law 25).
    ///
    /// Callbacks on one context are submitted in the order of registration, also those that are registered from inside
    /// a callback. On `.immediate`, which is the default, they are called by whoever completes it, before the completing
    /// call returns, or by whoever registers, if it has ended. While others are being told the order wins: then the
    /// callback takes its turn, and the registering call may return before. The same holds 32 callbacks deep, so
    /// that a chain of any length neither overflows the stack nor changes thread.
    @inlinable
    @discardableResult
    @_disfavoredOverload
    public func onComplete<Context: ExecutionContext>(
        on context: Context = .immediate, _ callback: @escaping @Sendable (Outcome) -> Void
    ) -> Self {
        // Counted on each context: one that runs jobs on the caller nests them.
        if cell.isTold, Delivery.descend() {
            if Context.self == ImmediateContext.self {
                callback(cell.outcome())
            } else {
                context.execute { [cell] in callback(cell.outcome()) }
            }
            Delivery.ascend()
            return self
        }
        if Context.self == ImmediateContext.self {
            cell.join { cell in callback(cell.outcome()) }
        } else {
            cell.join(HoppingCallback(on: context) { cell in callback(cell.outcome()) })
        }
        return self
    }

    /// Calls `callback` with the value, once, on `context`, if it ends with one (law 25).
    @inlinable
    @discardableResult
    @_disfavoredOverload
    public func onSuccess(
        on context: some ExecutionContext = .immediate, _ callback: @escaping @Sendable (Value) -> Void
    ) -> Self {
        onComplete(on: context) { outcome in
            if case .success(let value) = outcome { callback(value) }
        }
    }

    /// Calls `callback` with the error, once, on `context`, if it ends with one (law 25).
    @inlinable
    @discardableResult
    @_disfavoredOverload
    public func onFailure(
        on context: some ExecutionContext = .immediate,
        _ callback: @escaping @Sendable (any Error) -> Void
    ) -> Self {
        onComplete(on: context) { outcome in
            if case .failure(let error) = outcome { callback(error) }
        }
    }

    /// Calls `callback` with the outcome on `context`, at most once, as long as `token` is valid (law 25).
    ///
    /// After the token was invalidated on the context, a serial one, the callback is not called. When it is invalidated
    /// the callback and what it captured are let go of, and the `Async` is cancelled if nobody else wants it (law 26).
    @inlinable
    @discardableResult
    @_disfavoredOverload
    public func onComplete(
        on context: some ExecutionContext = .immediate, while token: InvalidationToken,
        _ callback: @escaping @Sendable (Outcome) -> Void
    ) -> Self {
        join(Hop.to(context), while: token) { cell in callback(cell.outcome()) }
        return self
    }

    @usableFromInline
    func join(_ hop: Hop?, while token: InvalidationToken, _ body: @escaping Callback.Body) {
        TokenCallback(hop, for: cell, while: token, body).wait(for: cell)
    }
}
