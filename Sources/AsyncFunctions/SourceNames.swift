public import ExecutionContexts

// The spellings of the original document on execution contexts for futures, so that its code runs
// unchanged. New code writes `onComplete(on: .main)`.

/// Runs jobs on the main queue: `.main`.
public let MainExecutionContext = MainContext()

/// Runs jobs on the caller: `.immediate`.
public let ImmediateExecutionContext = ImmediateContext()

extension Async {
    /// Calls `callback` with the outcome, once, on `context`: `onComplete(on:_:)` with the context
    /// first.
    @inlinable
    @discardableResult
    @_disfavoredOverload
    public func onComplete(
        _ context: some ExecutionContext, _ callback: @escaping @Sendable (Outcome) -> Void
    ) -> Self {
        onComplete(on: context, callback)
    }

    /// Calls a closure of the main actor with the outcome, once, on the main queue:
    /// `onComplete(on:_:)`.
    @discardableResult
    public func onComplete(
        _ context: MainContext, _ callback: @escaping @MainActor @Sendable (Outcome) -> Void
    ) -> Self {
        onComplete(on: context, callback)
    }
}
