/// Runs `operation` on the caller's actor, and calls `cancel` as soon as the task is cancelled.
///
/// The standard library's function takes a closure that belongs to no actor. A task would leave the
/// caller's actor for the global executor before `operation` begins, and fall behind other calls of
/// that actor. A closure that captures an isolated parameter belongs to the actor in that
/// parameter.
package func withCancellationHandler<Value>(
    isolation: isolated (any Actor)? = #isolation,
    _ operation: nonisolated(nonsending) () async throws -> Value,
    onCancel cancel: @Sendable () -> Void
) async rethrows -> Value {
    try await withTaskCancellationHandler(
        operation: {
            _ = isolation
            return try await operation()
        }, onCancel: cancel)
}
