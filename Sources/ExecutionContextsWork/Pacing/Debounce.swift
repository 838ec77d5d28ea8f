public import ExecutionContexts

extension ExecutionContext {
    /// Returns a function that runs `action` with its last value once it has not been called for
    /// `interval`.
    ///
    /// ```swift
    /// let context = ManualContext()
    /// let search = context.debounced(by: .milliseconds(300)) { (text: String) in print("search for \(text)") }
    /// search("w")
    /// search("wren")
    /// ```
    ///
    /// `action` runs on this context, in its time: never early, once per quiet period, with the
    /// last value (law 7). At most one delay is pending, however often the function is called. With
    /// a zero or negative interval `action` runs in a later job of the context. If the context
    /// drops the delay, the value is dropped with it, like any job that a context drops.
    ///
    /// It drops all values but the last, so do not use it where each value matters. To slow down
    /// jobs without dropping any, use `RateLimiter`.
    @_disfavoredOverload
    public func debounced<Value: Sendable>(
        by interval: Duration, fileID: StaticString = #fileID, line: UInt = #line,
        _ action: @escaping @Sendable (Value) -> Void
    ) -> PacedCall<Value> {
        let place = CodePlace(fileID, line)
        return PacedCall(
            core: DebounceCore(on: self, .quiet(max(interval, .zero)), from: place), action)
    }
}
