/// A value that is reached only inside a closure, under the lock it was made with (law 30).
///
/// ```swift
/// let birds = LockedResource(["robin"], lockedBy: .coordinator)
/// birds.mutate { $0.append("wren") }
/// birds.enqueueWrite { $0.sort() }
/// let count = birds.read { $0.count }
/// ```
///
/// A read is equivalent to the lock's read around the closure, a write to the lock's write around
/// it. The lock decides which accesses run beside each other, and which writes a read sees: see
/// `ResourceLock`.
///
/// - Escaping: no property returns the value. A value put in is *sent*, and is the caller's no
///   longer. The result of a write is `Sendable`, and a closure that lets part of a value that is
///   not `Sendable` escape does not compile. Only a `Sendable` resource can be read, since reads
///   may run beside each other; others are written.
/// - Errors: a closure that throws releases the lock and keeps the changes made so far. To change
///   all or nothing, change a copy and assign it last.
/// - Nesting: a read inside a read runs at once and sees the same. Inside a write the closure's own
///   parameter is the only way to the value: a nested read or write would overlap with it. A write
///   inside a read would change what the read looks at (law 18). These trap with a message, under
///   every lock. An enqueued write inside either runs after it.
/// - Lifetime: pending writes keep the value until they have run.
///
/// It is not for async code, whose accesses would hold the lock across an `await`; use an actor. It
/// does not combine accesses: between a read and a write, other callers may write. Do both in one
/// write.
@safe
public final class LockedResource<Resource: ~Copyable>: Sendable {
    @usableFromInline let lock: any ResourceLock
    // Unsafe in name only: the value is reached under the lock, and overlapping accesses are
    // refused.
    @usableFromInline nonisolated(unsafe) let value: UnsafeMutablePointer<Resource>

    /// Puts `resource` behind `lock`; it may be of any type, and is the caller's no longer.
    public init(_ resource: consuming sending Resource, lockedBy lock: some ResourceLock) {
        self.lock = lock
        unsafe value = UnsafeMutablePointer.allocate(capacity: 1)
        unsafe value.initialize(to: resource)
    }

    deinit {
        unsafe value.deinitialize(count: 1)
        unsafe value.deallocate()
    }

    /// Runs `body` on the caller with the value, alone, and returns its value or throws its error.
    @inlinable
    public func mutate<Value: Sendable, Failure: Error>(
        fileID: StaticString = #fileID, line: UInt = #line,
        _ body: (inout sending Resource) throws(Failure) -> Value
    ) throws(Failure) -> Value {
        var outcome: Result<Value, Failure>?
        unsafe ResourceAccess.write(self, at: value, behind: lock, fileID, line) {
            do throws(Failure) {
                outcome = .success(try unsafe body(&value.pointee))
            } catch {
                outcome = .failure(error)
            }
        }
        // The call above returns only if it has run its closure.
        return try unsafe outcome.unsafelyUnwrapped.get()
    }

    /// Runs `body` with the value, alone, after the caller's earlier writes and outside every
    /// access.
    ///
    /// The lock decides when and where: `.section` and `.coordinator` have a write context for it,
    /// `.unlocked` runs it at once if it can.
    public func enqueueWrite(_ body: @escaping @Sendable (inout sending Resource) -> Void) {
        lock.enqueueWrite { [self] in
            unsafe ResourceAccess.runEnqueued(self, at: value, behind: lock) {
                unsafe body(&value.pointee)
            }
        }
    }
}

extension LockedResource where Resource: Sendable & ~Copyable {
    /// Runs `body` on the caller with the value, beside other reads if the lock allows it.
    ///
    /// It returns the value of `body` or throws its error. For a resource that is not `Sendable`,
    /// use `mutate`.
    @inlinable
    public func read<Value, Failure: Error>(
        fileID: StaticString = #fileID, line: UInt = #line,
        _ body: (borrowing Resource) throws(Failure) -> Value
    ) throws(Failure) -> Value {
        var outcome: Result<Value, Failure>?
        unsafe ResourceAccess.read(self, at: value, behind: lock, fileID, line) {
            do throws(Failure) {
                outcome = .success(try unsafe body(value.pointee))
            } catch {
                outcome = .failure(error)
            }
        }
        // The call above returns only if it has run its closure.
        return try unsafe outcome.unsafelyUnwrapped.get()
    }
}
