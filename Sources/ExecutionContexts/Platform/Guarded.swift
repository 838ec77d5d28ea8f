/// A value behind a lock, reachable only while the lock is held.
///
/// Lock and value share one allocation outside of the object that owns them. The lock keeps its
/// address, and accesses to the value skip the run-time exclusivity checks (5 ns each), which the
/// lock makes redundant. No user code may run inside `withLock` (law 9).
@safe package struct Guarded<Value: ~Copyable>: ~Copyable {
    private let lock: UnsafeMutablePointer<NativeLock.Storage>
    private let value: UnsafeMutablePointer<Value>

    package init(_ initial: consuming Value) {
        // At the start of a cache line, so that a hand-over moves as few of them as possible.
        var layout = BlockLayout(alignment: 64)
        let start = layout.append(
            byteCount: NativeLock.layout.size, alignment: NativeLock.layout.alignment)
        let behind = layout.append(Value.self)
        let memory = unsafe layout.allocate()
        unsafe lock = (memory + start).bindMemory(to: NativeLock.Storage.self, capacity: 1)
        unsafe value = (memory + behind).bindMemory(to: Value.self, capacity: 1)
        unsafe NativeLock.create(at: lock)
        unsafe value.initialize(to: initial)
    }

    deinit {
        unsafe value.deinitialize(count: 1)
        unsafe NativeLock.destroy(lock)
        unsafe UnsafeMutableRawPointer(lock).deallocate()
    }

    @inline(__always)
    package borrowing func withLock<Result: ~Copyable, Failure: Error>(
        _ body: (inout Value) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        unsafe NativeLock.lock(lock)
        defer { unsafe NativeLock.unlock(lock) }
        return try unsafe body(&value.pointee)
    }

    /// Like `withLock`, but without a scheduling point, for what a simulation itself reads.
    ///
    /// Every caller that uses such a value must use this method.
    package borrowing func withUnscheduledLock<Result: ~Copyable, Failure: Error>(
        _ body: (inout Value) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        unsafe NativeLock.lockUnscheduled(lock)
        defer { unsafe NativeLock.unlock(lock) }
        return try unsafe body(&value.pointee)
    }
}

// Unchecked: the value is reached only under the lock, so threads may share the pointers to it.
// Each use checks what it puts in and takes out: the library stores only sendable values and its
// own nodes.
extension Guarded: @unchecked Sendable where Value: ~Copyable {}
