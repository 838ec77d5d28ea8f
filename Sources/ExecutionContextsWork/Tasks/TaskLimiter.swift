public import ExecutionContexts

/// Runs async code on a context, at most `limit` bodies at a time; a body keeps its permit while it
/// awaits.
///
/// ```swift
/// let downloads = GlobalContext().limitedTasks(to: 4)
/// let page = downloads.submitTask { try await client.birds() }
/// ```
///
/// A view by `limited(to:)` limits the jobs that run: a task leaves it at each `await`, and the
/// next one enters. This counts a body from its beginning to its end (law 35). Bodies begin by
/// priority, and among equals in the order in which they were submitted.
public struct TaskLimiter<Base: ExecutionContext>: Sendable {
    /// The context of the bodies.
    public let base: Base
    @usableFromInline let core: SemaphoreCore

    fileprivate init(_ base: Base, _ limit: Int, _ name: String?) {
        let name = name ?? "\(base.name), at most \(limit) tasks"
        require(
            limit >= 1,
            "'\(name)' would never run a body, since its limit is \(limit) (law 35). "
                + "Pass 1 or more.")
        self.base = base
        core = SemaphoreCore(permits: limit, name: name)
    }

    /// Runs an async `body` on the context as a part of the calling task, and returns its value or
    /// throws its error.
    ///
    /// Throws `CancellationError` if the task is cancelled before the body begins (law 13).
    @inlinable
    public nonisolated(nonsending) func runTask<Value: Sendable>(
        fileID: StaticString = #fileID, line: UInt = #line,
        _ body: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        if let waiter = try core.enter() { try await core.wait(as: waiter) }
        defer { core.leave() }
        return try await base.runTask(fileID: fileID, line: line, body)
    }

    /// Starts a task that runs an async `body` on the context, and returns a future of its value or
    /// its error.
    ///
    /// The position in the queue is that of this call. Cancelling the `Async` cancels the task; a
    /// body that has not begun never runs.
    @discardableResult
    public func submitTask<Value: Sendable>(
        fileID: StaticString = #fileID, line: UInt = #line,
        _ body: @escaping @Sendable () async throws -> Value
    ) -> Async<Value> {
        let waiter = core.join()
        // A task always starts, even if it was cancelled before: so it takes its position, or
        // leaves the queue.
        return Async(fileID: fileID, line: line) { [base, core] in
            if let waiter { try await core.wait(as: waiter) } else { core.noteOwner() }
            defer { core.leave() }
            return try await base.runTask(fileID: fileID, line: line, body)
        }
    }

    /// How many bodies wait to begin.
    public var waitingCount: Int { core.withState { $0.waitingCount } }
}

extension ExecutionContext {
    /// Runs async code on this context, at most `limit` bodies at a time, across every `await`.
    ///
    /// Traps if the limit is below 1.
    public func limitedTasks(to limit: Int, named name: String? = nil) -> TaskLimiter<Self> {
        TaskLimiter(self, limit, name)
    }
}
