/// A value that comes later: what `submit` returns.
///
/// It completes once, with a value or an error, and calls every callback exactly once, on the context named
/// with it (laws 24, 25).
public final class Async<Value: Sendable>: Sendable {
    /// How it ended.
    public typealias Outcome = Result<Value, any Error>
    typealias Callback = @Sendable (Outcome) -> Void

    private struct State: ~Copyable {
        var outcome: Outcome?
        var callbacks: [Callback] = []
        /// Whether somebody is handing the outcome to callbacks now.
        var isDelivering = false
        var onCancel: (@Sendable () -> Void)?
    }

    private let state: Guarded<State>

    init(onCancel: @escaping @Sendable () -> Void) {
        state = Guarded(State(onCancel: onCancel))
    }

    /// How it ended, or nil while it has not.
    public var outcome: Outcome? { state.withLock { $0.outcome } }

    /// Calls `callback` once, on `context`, when it has ended, or now if it has.
    ///
    /// Callbacks on one context are submitted in the order of registration, also when they are registered
    /// while others are being called.
    @discardableResult
    public func onComplete(
        on context: some ExecutionContext = .immediate,
        _ callback: @escaping @Sendable (Outcome) -> Void
    ) -> Self {
        let mustDeliver = state.withLock { state in
            state.callbacks.append { outcome in context.execute { callback(outcome) } }
            guard state.outcome != nil, !state.isDelivering else { return false }
            state.isDelivering = true
            return true
        }
        if mustDeliver { deliver() }
        return self
    }

    /// Asks that the work be cancelled; it then ends with `CancellationError` if it had not started.
    public func cancel() {
        let onCancel = state.withLock { $0.onCancel.take() }
        onCancel?()
    }

    /// Waits for the end without blocking a thread; cancelling the waiting task cancels the work.
    public func get() async throws -> Value {
        try await withTaskCancellationHandler {
            // Unsafe only if resumed twice or never; a callback is called exactly once.
            try await unsafe withUnsafeThrowingContinuation { continuation in
                onComplete { unsafe continuation.resume(with: $0) }
            }
        } onCancel: {
            cancel()
        }
    }

    /// Ends it; false if it had ended already, which changes nothing (law 24).
    @discardableResult
    func complete(with outcome: Outcome) -> Bool {
        let (isFirst, onCancel) = state.withLock { state in
            guard state.outcome == nil else { return (false, nil as (@Sendable () -> Void)?) }
            state.outcome = outcome
            // With the outcome, so that nobody who registers in between delivers beside this one.
            state.isDelivering = true
            return (true, state.onCancel.take())
        }
        // What cancelling would have needed is freed here, outside the lock (law 9).
        _ = onCancel
        if isFirst { deliver() }
        return isFirst
    }

    /// Hands the outcome to what is registered, in order, until nothing new has come (law 25).
    ///
    /// For the one who set `isDelivering`: who comes meanwhile leaves its callback to that one.
    private func deliver() {
        while let (outcome, callbacks) = nextCallbacks() {
            for callback in callbacks { callback(outcome) }
        }
    }

    private func nextCallbacks() -> (Outcome, [Callback])? {
        state.withLock { state in
            guard let outcome = state.outcome, !state.callbacks.isEmpty else {
                state.isDelivering = false
                return nil
            }
            return (outcome, state.callbacks.takeAll())
        }
    }
}

extension Array {
    /// Empties the array and returns what was in it.
    fileprivate mutating func takeAll() -> Self {
        let all = self
        self = []
        return all
    }
}
