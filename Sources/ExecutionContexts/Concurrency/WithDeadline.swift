/// Runs an async `body` with a deadline, and throws when it passes (law 38).
///
/// The body runs in a task of its own, and sees the deadline as `Deadline.current`. So does what it
/// submits: jobs that would begin later are refused, time limits are shortened, and retries stop.
///
/// - When the deadline passes, this throws ``AsyncError/timedOut(after:)``, and cancels the body's
///   task.
/// - If the calling task is cancelled, so is the body's.
/// - A deadline that is set already, and earlier, counts instead.
///
/// ```swift
/// let page = try await withDeadline(in: .seconds(5), on: context) {
///     try await client.birds()
/// }
/// ```
public nonisolated(nonsending) func withDeadline<Value: Sendable>(
    in limit: Duration, on context: some ExecutionContext,
    fileID: StaticString = #fileID, line: UInt = #line,
    _ body: @escaping @Sendable () async throws -> Value
) async throws -> Value {
    try Task.checkCancellation()
    let (deadline, remaining) = Deadline.earlier(in: limit, on: context)
    guard !deadline.hasPassed else { throw AsyncError.timedOut(after: remaining) }
    var value = Deadline.taskLocal.withValue(deadline) {
        Async(fileID: fileID, line: line) {
            // The task may begin long after this call.
            if deadline.hasPassed { throw AsyncError.timedOut(after: remaining) }
            return try await body()
        }
    }
    // On no context: what keeps a context busy may be the body itself.
    for (index, limit) in deadline.limits.enumerated() {
        value = value.timeout(
            after: index == 0 ? remaining : limit.remaining,
            on: TimeContext(time: limit.time, name: context.name), fileID: fileID, line: line)
    }
    return try await value.getOrCancel()
}
