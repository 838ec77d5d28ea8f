/// A value behind a lock, reachable only while the lock is held.
///
/// Lock and value share one allocation outside the object that owns them: the lock keeps its address,
/// and the value's accesses skip the run-time exclusivity checks (5 ns each) that the lock makes
/// superfluous. Nothing of a user's may run inside `withLock` (law 9).
@safe struct Guarded<Value: ~Copyable>: ~Copyable {
    private let lock: UnsafeMutablePointer<NativeLock.Storage>
    private let value: UnsafeMutablePointer<Value>

    /// Lock and value start a line of memory, so that two processors pass as few lines as can be.
    private static var cacheLine: Int { 64 }

    init(_ initial: consuming Value) {
        let lockSize = NativeLock.layout.size
        let alignment = max(NativeLock.layout.alignment, MemoryLayout<Value>.alignment)
        let offset = (lockSize + alignment - 1) / alignment * alignment
        let memory = UnsafeMutableRawPointer.allocate(
            byteCount: offset + MemoryLayout<Value>.size, alignment: max(alignment, Self.cacheLine))
        let behind = unsafe memory + offset
        unsafe lock = memory.bindMemory(to: NativeLock.Storage.self, capacity: 1)
        unsafe value = behind.bindMemory(to: Value.self, capacity: 1)
        unsafe NativeLock.create(at: lock)
        unsafe value.initialize(to: initial)
    }

    deinit {
        unsafe value.deinitialize(count: 1)
        unsafe NativeLock.destroy(lock)
        unsafe UnsafeMutableRawPointer(lock).deallocate()
    }

    @inline(__always)
    borrowing func withLock<Result: ~Copyable, Failure: Error>(
        _ body: (inout Value) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        unsafe NativeLock.lock(lock)
        defer { unsafe NativeLock.unlock(lock) }
        return try unsafe body(&value.pointee)
    }
}

// Unchecked: the value is reached only under the lock, so threads may share the way to it. What goes in
// and out is checked where it is used: the library stores only sendable things and its own nodes.
extension Guarded: @unchecked Sendable where Value: ~Copyable {}
