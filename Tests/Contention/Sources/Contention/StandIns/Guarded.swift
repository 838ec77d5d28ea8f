/// The library's value behind a lock, over the library's lock.
///
/// It differs from the shipped one in two ways: its cache lines have the name of the value, and
/// those behind the first one are counted as written whenever the lock is taken.
@safe struct Guarded<Value: ~Copyable>: ~Copyable {
    private let lock: UnsafeMutablePointer<NativeLock.Storage>
    private let value: UnsafeMutablePointer<Value>

    private static var layout: (block: BlockLayout, lock: Int, value: Int) {
        var block = BlockLayout(alignment: CacheLines.size)
        let lock = block.append(
            byteCount: NativeLock.layout.size, alignment: NativeLock.layout.alignment)
        let value = block.append(Value.self)
        return (block, lock, value)
    }

    init(_ initial: consuming Value) {
        let layout = Self.layout
        let memory = unsafe layout.block.allocate()
        unsafe lock = (memory + layout.lock).bindMemory(to: NativeLock.Storage.self, capacity: 1)
        unsafe value = (memory + layout.value).bindMemory(to: Value.self, capacity: 1)
        unsafe NativeLock.create(at: lock)
        unsafe value.initialize(to: initial)
        unsafe Machine.current.name(
            UInt(bitPattern: memory), byteCount: layout.block.byteCount, "lock of \(Value.self)")
    }

    deinit {
        unsafe value.deinitialize(count: 1)
        unsafe NativeLock.destroy(lock)
        unsafe UnsafeMutableRawPointer(lock).deallocate()
    }

    borrowing func withLock<Result: ~Copyable, Failure: Error>(
        _ body: (inout Value) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        unsafe NativeLock.lock(lock)
        defer { unsafe NativeLock.unlock(lock) }
        for offset in stride(
            from: CacheLines.size, to: Self.layout.block.byteCount, by: CacheLines.size)
        {
            unsafe Machine.current.access(UInt(bitPattern: lock) + UInt(offset), .write, .guarded)
        }
        return try unsafe body(&value.pointee)
    }

    borrowing func withUnscheduledLock<Result: ~Copyable, Failure: Error>(
        _ body: (inout Value) throws(Failure) -> Result
    ) throws(Failure) -> Result { try withLock(body) }
}

// Unchecked: the value is reached only under the lock, as in the library.
extension Guarded: @unchecked Sendable where Value: ~Copyable {}
