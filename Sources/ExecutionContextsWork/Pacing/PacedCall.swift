public import ExecutionContexts

/// A function that runs its action for some of its calls, depending on when they are made.
///
/// Made by `debounced(by:)` and `throttled(to:_:_:)`. It may be called from any thread, and from
/// its own action. When it is released, a kept value is still delivered (law 10). On a serial
/// context one action runs at a time, in the order of submission. On a concurrent context the next
/// action may start while a long one runs.
public final class PacedCall<Value: Sendable>: Sendable {
    private let core: DebounceCore
    private let action: @Sendable (Value) -> Void

    init(core: DebounceCore, _ action: @escaping @Sendable (Value) -> Void) {
        self.core = core
        self.action = action
    }

    /// Runs the action with `value` at once, keeps `value` in place of the previous one, or drops
    /// it.
    public func callAsFunction(_ value: Value) { core.call { [action] in action(value) } }

    /// Drops the kept value and cancels its delay; true if there was one, for which the action
    /// never runs.
    ///
    /// The current window of a throttle continues: after a cancel, the next value is not delivered
    /// sooner.
    @discardableResult
    public func cancel() -> Bool { core.cancel() }

    /// Submits the action with the kept value; true if there was one. A throttle opens a window
    /// with it.
    @discardableResult
    public func flush() -> Bool { core.flush() }

    /// Whether a value is kept for later.
    public var isPending: Bool { core.isPending }
}

extension PacedCall: CancellationHandle {
    /// False: a later call may keep a value again.
    public var isFinished: Bool { false }
}
