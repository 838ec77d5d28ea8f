public import ExecutionContexts

// Closures of the main actor, which the general methods would not accept.
extension MainActorContext {
    /// Returns a call that runs a closure of the main actor once calls have ceased for `interval`,
    /// with the last value.
    public func debounced<Value: Sendable>(
        by interval: Duration, fileID: StaticString = #fileID, line: UInt = #line,
        _ action: @escaping @MainActor @Sendable (Value) -> Void
    ) -> PacedCall<Value> {
        general.debounced(by: interval, fileID: fileID, line: line) { value in
            MainActor.assumeIsolated { action(value) }
        }
    }

    /// Returns a call that runs a closure of the main actor at most once in each `interval`.
    public func throttled<Value: Sendable>(
        to interval: Duration, _ choice: Throttling, fileID: StaticString = #fileID,
        line: UInt = #line, _ action: @escaping @MainActor @Sendable (Value) -> Void
    ) -> PacedCall<Value> {
        general.throttled(to: interval, choice, fileID: fileID, line: line) { value in
            MainActor.assumeIsolated { action(value) }
        }
    }
}
