internal import ExecutionContexts

/// Admits one task at a time to a part of async code, across every `await` in it.
///
/// An actor runs other calls while one of its methods awaits. A lock keeps them out:
///
/// ```swift
/// actor Account {
///     private let lock = AsyncLock()
///     private var balance = 100
///     func withdraw(_ amount: Int) async throws -> Bool {
///         try await lock.withLock {
///             guard balance >= amount, await isApproved(amount) else { return false }
///             balance -= amount
///             return true
///         }
///     }
///     private func isApproved(_ amount: Int) async -> Bool { amount < 1_000 }
/// }
/// ```
///
/// It is an ``AsyncSemaphore`` with one permit: waiting tasks enter by priority, and among equals
/// in the order of arrival, and a cancelled one leaves (law 35). No thread is blocked. For code
/// without an `await` use a `CriticalSection`, or a `LockedResource` for a value.
///
/// A body that requests its own lock again traps. If the body waits for a child task that requests
/// it, both wait forever without a trap; the simulator finds that.
public final class AsyncLock: Sendable, CustomStringConvertible {
    @usableFromInline let core: SemaphoreCore

    /// Creates a lock, with a name for messages.
    public init(name: String? = nil) { core = SemaphoreCore(permits: 1, name: name ?? "lock") }

    /// Runs `body` while no other task is inside.
    ///
    /// Throws `CancellationError` if the task is cancelled before it is inside; then the body never
    /// runs (law 13). The body runs on the caller's actor.
    @inlinable
    public nonisolated(nonsending) func withLock<Value>(
        _ body: nonisolated(nonsending) () async throws -> Value
    ) async throws -> Value {
        if let waiter = try core.enter() { try await core.wait(as: waiter) }
        defer { core.leave() }
        return try await body()
    }

    /// Runs `body` if no task is inside or waits, else returns nil without a suspension.
    @inlinable
    public nonisolated(nonsending) func withLockIfAvailable<Value>(
        _ body: nonisolated(nonsending) () async throws -> Value
    ) async rethrows -> Value? {
        guard core.tryEnter() else { return nil }
        defer { core.leave() }
        return try await body()
    }

    /// Whether a task is inside.
    public var isLocked: Bool { core.withState { $0.free == 0 } }

    /// How many tasks wait.
    public var waitingCount: Int { core.withState { $0.waitingCount } }

    /// The name, whether a task is inside, and how many wait.
    public var description: String { core.description }
}
