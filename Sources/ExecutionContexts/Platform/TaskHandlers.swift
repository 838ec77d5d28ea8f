/// Runs `operation` on the caller's actor, and calls `cancel` as soon as the task is cancelled.
///
/// The standard library's function takes a closure that belongs to no actor. A task would leave the
/// caller's actor for the global executor before `operation` begins, and fall behind other calls of
/// that actor. A closure that captures an isolated parameter belongs to the actor in that
/// parameter.
@inlinable
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

/// Runs `operation`, and passes the calling task's priority to `escalate`, at once and whenever it
/// is raised.
///
/// The runtime does the same for a task that another task awaits. Older systems escalate once, at
/// the beginning.
@inlinable
package nonisolated(nonsending) func withEscalationHandler<Value>(
    _ escalate: @escaping @Sendable (TaskPriority) -> Void,
    of operation: nonisolated(nonsending) () async throws -> Value
) async throws -> Value {
    escalate(Task.currentPriority)
    guard #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) else {
        return try await operation()
    }
    return try await withTaskPriorityEscalationHandler(
        operation: operation, onPriorityEscalated: { _, priority in escalate(priority) })
}

extension Task {
    /// Raises the priority of this task, where the system can.
    func raise(to priority: TaskPriority) {
        if #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) {
            escalatePriority(to: priority)
        }
    }
}
