public import ExecutionContexts

/// Which of the values that arrive during a window reaches the action.
public enum Throttling: Hashable, Sendable, CaseIterable {
    /// The first, at once; later ones in its window are dropped.
    case first
    /// The last, when the window that the first one opened ends.
    case latest
    /// The first, at once; and the last of any later ones, at the end of the window, which opens
    /// the next.
    case firstAndLatest
}

extension ExecutionContext {
    /// Returns a function that runs `action` at most once per `interval`, with the value that
    /// `choice` selects.
    ///
    /// ```swift
    /// let context = ManualContext()
    /// let save = context.throttled(to: .seconds(5), .latest) { (text: String) in print("saved \(text)") }
    /// save("a draft")
    /// save("a better draft")
    /// ```
    ///
    /// `action` runs on this context, in its time. A call outside a window opens one. A value that
    /// is kept for the window's end is never early (law 7), and one delay is pending at a time.
    /// With a zero or negative interval each call runs the action, with `latest` in a later job of
    /// the context. If the context drops the delay, the value is dropped with it, like any job that
    /// a context drops. To wait until calls cease, use `debounced(by:)`.
    @_disfavoredOverload
    public func throttled<Value: Sendable>(
        to interval: Duration, _ choice: Throttling, fileID: StaticString = #fileID,
        line: UInt = #line,
        _ action: @escaping @Sendable (Value) -> Void
    ) -> PacedCall<Value> {
        let place = CodePlace(fileID, line)
        return PacedCall(
            core: DebounceCore(on: self, .windows(max(interval, .zero), choice), from: place),
            action)
    }
}
