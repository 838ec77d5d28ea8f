extension Async {
    /// Calls `callback` with the outcome, once, on `context`, as long as `token` is valid (law 25).
    ///
    /// Callbacks on one context are submitted in the order of registration, also those that are
    /// registered inside a callback. On `.immediate`, the default, the thread that completes the
    /// `Async` calls them before the completing call returns; if it has completed, the registering
    /// thread calls them. While other subscribers are being notified, the order wins: the callback
    /// is called after them, and the registering call may return before that. The same holds for
    /// callbacks that nest more than 32 deep, so that a chain of any length neither overflows the
    /// stack nor changes thread.
    ///
    /// Once the token has been invalidated on the context, a serial one, the callback is not
    /// called. Invalidation frees the callback and its captures, and cancels the `Async` if it has
    /// no other interested subscriber (law 26).
    @inlinable
    @discardableResult
    @_disfavoredOverload
    public func onComplete<Context: ExecutionContext>(
        on context: Context = .immediate, while token: InvalidationToken? = nil,
        fileID: StaticString = #fileID, line: UInt = #line,
        _ callback: @escaping @Sendable (Outcome) -> Void
    ) -> Self {
        if let token {
            addSubscriber(ContextHop.to(context, fileID, line), while: token) { state in
                callback(state.outcome())
            }
            return self
        }
        // Counted for every context: one that runs jobs on the caller nests them. A caller's
        // deadline is left to `notifyAll`.
        if state.hasNotified, !Deadline.isSet, BoundedNesting.descend() {
            if Context.self == ImmediateContext.self {
                callback(state.outcome())
            } else {
                let job: Work = { [state] in callback(state.outcome()) }
                context.execute(JobSource.carry(fileID, line, job))
            }
            BoundedNesting.ascend()
            return self
        }
        if Context.self == ImmediateContext.self {
            state.addSubscriber { state in callback(state.outcome()) }
        } else {
            state.addSubscriber(
                HoppingCallback(on: context, fileID, line) { state in callback(state.outcome()) })
        }
        return self
    }

    /// Calls `callback` with the value, once, on `context`, if it completes with one, as long as
    /// `token` is valid (law 25).
    @inlinable
    @discardableResult
    @_disfavoredOverload
    public func onSuccess(
        on context: some ExecutionContext = .immediate, while token: InvalidationToken? = nil,
        fileID: StaticString = #fileID, line: UInt = #line,
        _ callback: @escaping @Sendable (Value) -> Void
    ) -> Self {
        onComplete(on: context, while: token, fileID: fileID, line: line) { outcome in
            if case .success(let value) = outcome { callback(value) }
        }
    }

    /// Calls `callback` with the error, once, on `context`, if it completes with one, as long as
    /// `token` is valid (law 25).
    @inlinable
    @discardableResult
    @_disfavoredOverload
    public func onFailure(
        on context: some ExecutionContext = .immediate, while token: InvalidationToken? = nil,
        fileID: StaticString = #fileID, line: UInt = #line,
        _ callback: @escaping @Sendable (any Error) -> Void
    ) -> Self {
        onComplete(on: context, while: token, fileID: fileID, line: line) { outcome in
            if case .failure(let error) = outcome { callback(error) }
        }
    }

    @usableFromInline
    func addSubscriber(
        _ hop: ContextHop?, while token: InvalidationToken, _ body: @escaping Callback.Body
    ) {
        TokenCallback(hop, for: state, while: token, body).subscribe(to: state)
    }
}
