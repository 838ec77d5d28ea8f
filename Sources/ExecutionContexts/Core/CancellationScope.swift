/// What can be cancelled: a delay, a repetition, a future, a subscription.
public protocol CancellationHandle: Sendable {
    /// Cancels what it stands for; true if this call ended it.
    @discardableResult
    func cancel() -> Bool
    /// Whether it has ended, so that a cancellation would do nothing.
    var isFinished: Bool { get }
}

extension CancellationHandle {
    /// Lets a scope cancel this, at the latest when the scope is released; returns this.
    ///
    /// If the scope was cancelled already, this is cancelled before the call returns.
    @discardableResult
    public func stored(in scope: CancellationScope) -> Self {
        scope.store(self)
        return self
    }
}

/// Cancels what its owner has started, when the owner goes away.
///
/// ```swift
/// final class Clock: Sendable {
///     private let scope = CancellationScope()
///     init(on context: some ExecutionContext) {
///         context.schedule(every: .seconds(1)) { print("tick") }.stored(in: scope)
///     }
/// }
/// ```
///
/// When the last reference to the scope is released, or by ``cancel()``, it first invalidates its
/// ``token``, and then cancels its handles in the order in which they were stored (law 37). Pass
/// the token to what takes one: `onSuccess(on:while:)`, `valid(while:)`.
///
/// A scope releases its finished handles whenever the number of its handles has doubled. What a
/// pending handle captures may not own the scope, or neither is released: capture the owner `weak`.
public final class CancellationScope: Sendable {
    private struct State: ~Copyable {
        /// nil once the scope was cancelled.
        var handles: [any CancellationHandle]? = []
        /// At how many handles the finished ones are dropped.
        var limit = 16
    }

    /// Becomes invalid when the scope is cancelled or released.
    public let token = InvalidationToken()
    private let state = Guarded(State())

    /// Makes an empty scope.
    public init() {}

    deinit { cancel() }

    /// Whether the scope was cancelled.
    public var isCancelled: Bool { state.withLock { $0.handles == nil } }

    /// Cancels all that is stored, and what is stored later; true if this call did it.
    @discardableResult
    public func cancel() -> Bool {
        // First, so that no handle is cancelled while the token is valid, by a `store` either.
        token.invalidate()
        guard let handles = state.withLock({ $0.handles.take() }) else { return false }
        // Outside the lock: cancelling runs handlers and frees captures (law 9).
        for handle in handles { handle.cancel() }
        return true
    }

    /// Lets the scope cancel a handle; cancels it at once if the scope was cancelled.
    public func store(_ handle: some CancellationHandle) {
        let (isKept, crowd) = state.withLock { state -> (Bool, [any CancellationHandle]) in
            state.handles?.append(handle)
            guard let handles = state.handles else { return (false, []) }
            guard handles.count >= state.limit else { return (true, []) }
            state.limit = .max
            return (true, handles)
        }
        if !isKept { handle.cancel() }
        if !crowd.isEmpty { dropFinished(of: crowd) }
    }

    /// Drops the finished handles of `crowd`, which were stored first.
    private func dropFinished(of crowd: [any CancellationHandle]) {
        // Outside the lock: a handle may be a user's (law 9). All stay stored meanwhile, so that a
        // cancellation reaches them.
        let pending = crowd.filter { !$0.isFinished }
        let before = state.withLock { state in
            let before = state.handles
            state.handles?.replaceSubrange(..<crowd.count, with: pending)
            state.limit = max(16, 2 * (state.handles?.count ?? 0))
            return before
        }
        // Freed outside of the lock as well.
        withExtendedLifetime(before) {}
    }
}

extension DelayedWork: CancellationHandle {
    public var isFinished: Bool { !isWaiting }
}

extension Repetition: CancellationHandle {}
