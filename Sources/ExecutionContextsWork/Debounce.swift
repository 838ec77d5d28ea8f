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
    ///
    /// It is not for values of which each counts: all but the last are dropped. To slow down work without losing any is
    /// for `RateLimiter`.
    public func debounced<Value: Sendable>(
        by interval: Duration, fileID: StaticString = #fileID, line: UInt = #line,
        _ action: @escaping @Sendable (Value) -> Void
    ) -> PacedCall<Value> {
        let place = SourcePlace(fileID: fileID, line: line)
        return PacedCall(core: DebounceCore(on: self, .quiet(max(interval, .zero)), from: place), action)
    }
}
