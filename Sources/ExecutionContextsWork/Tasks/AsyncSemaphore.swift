internal import ExecutionContexts

/// Limits how many tasks are inside a part of async code at a time.
///
/// ```swift
/// let connections = AsyncSemaphore(permits: 4)
/// Task {
///     let count = try await connections.withPermit { try await rows().count }
///     print(count)
/// }
/// func rows() async throws -> [String] { ["wren", "robin"] }
/// ```
///
/// A task holds its permit across every `await` of the body, and no thread is blocked (law 35). A
/// limited view of a context, by contrast, limits the running jobs: at an `await` the task leaves.
///
/// The permit of a task that has ended its body passes to a waiting task:
///
/// - to the one with the highest priority, and among equals to the first to arrive;
/// - every sixteenth permit to the one that has waited longest, whatever its priority, so that none
///   waits forever.
///
/// A task whose priority is raised while it waits moves after those that already have that
/// priority. A task that is cancelled while it waits leaves with `CancellationError`.
///
/// A body that requests a further permit of its own semaphore may wait forever. With one permit
/// that is certain, and traps.
public final class AsyncSemaphore: Sendable, CustomStringConvertible {
    @usableFromInline let core: SemaphoreCore

    /// Creates a semaphore; traps if there is not at least one permit.
    public init(permits: Int, name: String? = nil) {
        require(
            permits >= 1,
            "A semaphore with \(permits) permits admits no task (law 35). "
                + "Pass 1 or more.")
        core = SemaphoreCore(permits: permits, name: name ?? "semaphore")
    }

    /// Runs `body` with a permit, which the task returns when the body has ended.
    ///
    /// Throws `CancellationError` if the task is cancelled before it has the permit; then the body
    /// never runs (law 13). The body runs on the caller's actor.
    @inlinable
    public nonisolated(nonsending) func withPermit<Value>(
        _ body: nonisolated(nonsending) () async throws -> Value
    ) async throws -> Value {
        if let waiter = try core.enter() { try await core.wait(as: waiter) }
        defer { core.leave() }
        return try await body()
    }

    /// Runs `body` if a permit is free, else returns nil without a suspension.
    ///
    /// No permit is free while a task waits for one: it never overtakes.
    @inlinable
    public nonisolated(nonsending) func withPermitIfAvailable<Value>(
        _ body: nonisolated(nonsending) () async throws -> Value
    ) async rethrows -> Value? {
        guard core.tryEnter() else { return nil }
        defer { core.leave() }
        return try await body()
    }

    /// How many permits are free.
    public var availableCount: Int { core.withState { $0.free } }

    /// How many tasks wait for a permit.
    public var waitingCount: Int { core.withState { $0.waitingCount } }

    /// The name, the number of permits, and how many tasks are inside and wait.
    public var description: String { core.description }
}
