public import ExecutionContexts

extension ExecutionContext {
    /// A function that waits until it has not been called for `interval`, and then runs `action` with the last value.
    ///
    /// ```swift
    /// let context = ManualContext()
    /// let search = context.debounced(by: .milliseconds(300)) { (text: String) in print("search for \(text)") }
    /// search("w")
    /// search("wren")
    /// ```
    ///
    /// `action` runs on this context, in its time: never early, once for each quiet time, with the last value (law 7). However often
    /// it is called, one delay is set. A zero or negative interval waits for the context's next turn. If the context
    /// lets go of the delay the value is lost, as all work is that a context loses.
    public func debounced<Value: Sendable>(
        by interval: Duration, _ action: @escaping @Sendable (Value) -> Void
    ) -> Debounced<Value> {
        Debounced(core: DebounceCore(on: self, .quiet(max(interval, .zero))), action)
    }
}

/// A function whose last call counts, when it has been quiet for a while; made by `debounced(by:)`.
///
/// It may be called from any thread, and from its own action. Let go of it, and a value that waits comes all the same
/// (law 10). On a serial context one action runs at a time, in the order of submission; on a concurrent one an action that
/// takes long may have the next beside it.
///
/// It is not for values of which each counts: a debounce drops all but the last. To slow down work without losing any is
/// for `RateLimiter`.
public final class Debounced<Value: Sendable>: Sendable {
    private let core: DebounceCore
    private let action: @Sendable (Value) -> Void

    init(core: DebounceCore, _ action: @escaping @Sendable (Value) -> Void) {
        self.core = core
        self.action = action
    }

    /// Remembers `value` in place of the one before, and begins the quiet time anew.
    public func callAsFunction(_ value: Value) { core.call { [action] in action(value) } }

    /// Forgets the value that waits, with its delay: true if there was one, which then never comes.
    @discardableResult
    public func cancel() -> Bool { core.cancel() }

    /// Submits the action with the value that waits, now: true if there was one.
    @discardableResult
    public func flush() -> Bool { core.flush() }

    /// Whether a value waits.
    public var isPending: Bool { core.isPending }
}
