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
    /// context loses. To wait until calls cease altogether is for `debounced(by:)`.
    public func throttled<Value: Sendable>(
        to interval: Duration, _ choice: Throttling, fileID: StaticString = #fileID, line: UInt = #line,
        _ action: @escaping @Sendable (Value) -> Void
    ) -> PacedCall<Value> {
        let place = SourcePlace(fileID: fileID, line: line)
        return PacedCall(
            core: DebounceCore(on: self, .windows(max(interval, .zero), choice), from: place), action)
    }
}
