/// A function of whose calls some count, depending on when they come; made by `debounced(by:)` and `throttled(to:_:_:)`.
///
/// It may be called from any thread, and from its own action. Let go of it, and a value that waits comes all the same
/// (law 10). On a serial context one action runs at a time, in the order of submission; on a concurrent one an action that
/// takes long may have the next beside it.
public final class PacedCall<Value: Sendable>: Sendable {
    private let core: DebounceCore
    private let action: @Sendable (Value) -> Void

    init(core: DebounceCore, _ action: @escaping @Sendable (Value) -> Void) {
        self.core = core
        self.action = action
    }

    /// Runs the action with `value` at once, keeps it in place of the one before, or drops it.
    public func callAsFunction(_ value: Value) { core.call { [action] in action(value) } }

    /// Forgets the value that waits, with its delay: true if there was one, which then never comes.
    ///
    /// A time of a throttle that is under way goes on: what comes meanwhile is not let through any sooner.
    @discardableResult
    public func cancel() -> Bool { core.cancel() }

    /// Submits the action with the value that waits, now: true if there was one. A throttle begins a time with it.
    @discardableResult
    public func flush() -> Bool { core.flush() }

    /// Whether a value waits.
    public var isPending: Bool { core.isPending }
}
