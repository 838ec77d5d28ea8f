public import ExecutionContexts

/// Which value of a time in which many come is the one that counts.
public enum Throttling: Hashable, Sendable, CaseIterable {
    /// The first, at once; those that come while its time lasts are dropped.
    case first
    /// The last, when the time that the first began is over.
    case latest
    /// The first, at once, and if others come while its time lasts the last of them, at the end, which begins the next.
    case firstAndLatest
}

extension ExecutionContext {
    /// A function that runs `action` at most once in each `interval`, with the value that `choice` says.
    ///
    /// ```swift
    /// let context = ManualContext()
    /// let save = context.throttled(to: .seconds(5), .latest) { (text: String) in print("saved \(text)") }
    /// save("a draft")
    /// save("a better draft")
    /// ```
    ///
    /// `action` runs on this context, in its time. A time begins with a call that finds none under way; what waits for its
    /// end is never early (law 7), and one delay is set at a time. With a zero or negative interval each call counts, with
    /// `latest` in the context's next turn. If the context lets go of the delay the value is lost, as all work is that a
    /// context loses.
    public func throttled<Value: Sendable>(
        to interval: Duration, _ choice: Throttling, _ action: @escaping @Sendable (Value) -> Void
    ) -> Throttled<Value> {
        Throttled(core: DebounceCore(on: self, .windows(max(interval, .zero), choice)), action)
    }
}

/// A function of whose calls at most one counts in each time of some length; made by `throttled(to:_:_:)`.
///
/// It may be called from any thread, and from its own action. Let go of it, and a value that waits comes all the same
/// (law 10). On a serial context one action runs at a time, in the order of submission; on a concurrent one an action that
/// takes long may have the next beside it.
///
/// To wait until calls cease altogether is for `debounced(by:)`.
public final class Throttled<Value: Sendable>: Sendable {
    private let core: DebounceCore
    private let action: @Sendable (Value) -> Void

    init(core: DebounceCore, _ action: @escaping @Sendable (Value) -> Void) {
        self.core = core
        self.action = action
    }

    /// Runs the action with `value` at once, keeps it for later or drops it.
    public func callAsFunction(_ value: Value) { core.call { [action] in action(value) } }

    /// Forgets the value that waits, with its delay: true if there was one, which then never comes.
    ///
    /// The time that is under way goes on: what comes meanwhile is not let through any sooner.
    @discardableResult
    public func cancel() -> Bool { core.cancel() }

    /// Submits the action with the value that waits, now, and begins a time with it: true if there was one.
    @discardableResult
    public func flush() -> Bool { core.flush() }

    /// Whether a value waits.
    public var isPending: Bool { core.isPending }
}
