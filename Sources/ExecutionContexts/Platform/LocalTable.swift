public import CPlatform
public import Synchronization

/// Each thread's values of thread-locals without a key.
///
/// A record points to a table, and the index of a thread-local selects an entry. Only its own
/// thread accesses a table. Indices are used again, so a thread-local that goes takes these steps:
///
/// 1. It hands each thread its value (`detach`) and sets the thread's count to zero.
/// 2. The thread's fast path compares the index with the count anyway, so it notices at no extra
///    cost.
/// 3. The thread removes the detached values (`collect`) before it uses the index for another
///    thread-local.
///
/// The serial is never used again, and guards against errors in these steps: a value is never taken
/// for that of another thread-local, possibly of another type.
@usableFromInline
enum LocalTable {
    /// A thread's value of the thread-local with this serial; no thread-local has serial 0.
    @usableFromInline @safe
    struct Entry {
        @usableFromInline var value: UnsafeMutableRawPointer?
        @usableFromInline var serial: UInt64

        static var empty: Entry { unsafe Entry(value: nil, serial: 0) }
    }

    /// The header in front of a table's entries.
    @safe struct Header {
        var capacity: UInt32
        /// The thread-locals whose values are being created or used on this thread, innermost
        /// first.
        var making: UnsafeMutablePointer<LocalInitialization>?
    }

    /// The calling thread's value, if it has one and no detached values; nil means to call `found`.
    @inlinable @inline(__always)
    static func find(_ index: UInt32, _ serial: UInt64) -> UnsafeMutableRawPointer? {
        // Relaxed: a request that is not seen yet is seen the next time.
        guard let thread = unsafe ec_thread_current(),
            unsafe index < count(of: thread).pointee.load(ordering: .relaxed)
        else { return nil }
        let entry = unsafe entries(of: thread) + Int(index)
        return unsafe entry.pointee.serial == serial ? entry.pointee.value.unsafelyUnwrapped : nil
    }

    /// The calling thread's value, if it has one.
    static func found(_ storage: LocalStorage) -> UnsafeMutableRawPointer? {
        guard let thread = unsafe ec_thread_current() else { return nil }
        unsafe collect(thread)
        return unsafe lookUp(thread, storage)
    }

    /// Stores a value for the calling thread, in place of its present one if there is one.
    static func store<Value>(_ value: consuming Value, for storage: LocalStorage) {
        let thread = unsafe Threads.own
        // This may run deinits, and so comes before everything else.
        unsafe collect(thread)
        if let present = unsafe lookUp(thread, storage) {
            return unsafe replace(present.assumingMemoryBound(to: Value.self), by: value)
        }
        unsafe reserve(storage.index, on: thread)
        let memory = unsafe storage.makeNode(for: thread)
        unsafe memory.assumingMemoryBound(to: Value.self).initialize(to: value)
        // A value that is still in the entry is a detached one. Freeing it later does not touch
        // this entry, because the entry holds another value then.
        unsafe entries(of: thread)[Int(storage.index)] = Entry(
            value: memory, serial: storage.serial)
    }

    /// Replaces a value; the old one is freed after the new one is visible.
    @inlinable @inline(__always)
    static func replace<Value>(_ stored: UnsafeMutablePointer<Value>, by value: consuming Value) {
        let old = unsafe stored.move()
        unsafe stored.initialize(to: value)
        withExtendedLifetime(old) {}
    }

    /// Frees the calling thread's value, if it has one.
    static func remove(_ storage: LocalStorage) {
        guard let thread = unsafe ec_thread_current() else { return }
        unsafe collect(thread)
        guard let value = unsafe lookUp(thread, storage) else { return }
        // Removed from the table before it is freed: the deinit may use this table.
        unsafe entries(of: thread)[Int(storage.index)] = .empty
        let node = unsafe LocalNode.before(value)
        if unsafe storage.unlink(node) { unsafe LocalNode.free(node) }
    }

    // MARK: - The table

    @inlinable @inline(__always)
    static func count(of thread: ThreadRecord) -> UnsafeMutablePointer<Atomic<UInt32>> {
        unsafe ec_thread_local_count(thread).assumingMemoryBound(to: Atomic<UInt32>.self)
    }

    /// The entries; there is a table if the count was not zero.
    @inlinable @inline(__always)
    static func entries(of thread: ThreadRecord) -> UnsafeMutablePointer<Entry> {
        unsafe thread.pointee.locals.unsafelyUnwrapped.assumingMemoryBound(to: Entry.self)
    }

    static func header(of thread: ThreadRecord) -> UnsafeMutablePointer<Header>? {
        guard let locals = unsafe thread.pointee.locals else { return nil }
        return unsafe locals.assumingMemoryBound(to: Header.self) - 1
    }

    /// Checks the capacity and not the count, which another thread may set to zero at any time.
    private static func lookUp(_ thread: ThreadRecord, _ storage: LocalStorage)
        -> UnsafeMutableRawPointer?
    {
        guard let header = unsafe header(of: thread), unsafe storage.index < header.pointee.capacity
        else {
            return nil
        }
        let entry = unsafe entries(of: thread)[Int(storage.index)]
        return unsafe entry.serial == storage.serial ? entry.value : nil
    }

    /// Makes sure that the table has an entry with this index.
    static func reserve(_ index: UInt32, on thread: ThreadRecord) {
        let old = unsafe header(of: thread)
        let capacity = unsafe old?.pointee.capacity ?? 0
        if index < capacity { return }
        let wanted = max(8, capacity * 2, index + 1)
        var layout = BlockLayout()
        let start = layout.append(Header.self)
        let first = layout.append(Entry.self, count: Int(wanted))
        let memory = unsafe layout.allocate()
        let fresh = unsafe (memory + start).bindMemory(to: Header.self, capacity: 1)
        unsafe fresh.initialize(to: Header(capacity: wanted, making: old?.pointee.making))
        let entries = unsafe (memory + first).bindMemory(to: Entry.self, capacity: Int(wanted))
        unsafe entries.initialize(repeating: .empty, count: Int(wanted))
        if let old = unsafe old {
            unsafe entries.update(from: self.entries(of: thread), count: Int(capacity))
            unsafe old.deallocate()
        }
        // The count stays, so that a request in it is kept; `collect` corrects it at the next use.
        unsafe thread.pointee.locals = UnsafeMutableRawPointer(entries)
    }
}

/// Frees the values of threads that end and of thread-locals that are gone (law 23).
extension LocalTable {
    /// How many values deinits may store while a thread ends; without a limit the thread might
    /// never end.
    private static var maxStoredAtEnd: Int { 1 << 20 }

    /// Hands an unreachable value to its thread; called under the lock of its storage.
    static func detach(_ node: LocalNode.Pointer) {
        let thread = unsafe node.pointee.thread
        let detached = unsafe detached(of: thread)
        var head = unsafe detached.pointee.load(ordering: .relaxed)
        while true {
            unsafe node.pointee.next = LocalNode.Pointer(bitPattern: head)
            // Releasing: the thread sees the node as it is. Acquiring: see `collect`.
            let (isDone, current) = unsafe detached.pointee.compareExchange(
                expected: head, desired: UInt(bitPattern: node),
                successOrdering: .acquiringAndReleasing,
                failureOrdering: .relaxed)
            if isDone { break }
            head = current
        }
        unsafe count(of: thread).pointee.store(0, ordering: .relaxed)
    }

    /// Frees the values that were handed to the calling thread, if any, and enables the fast path
    /// again.
    static func collect(_ thread: ThreadRecord) {
        guard let header = unsafe header(of: thread) else { return }
        let capacity = unsafe header.pointee.capacity
        if unsafe count(of: thread).pointee.load(ordering: .relaxed) == capacity { return }
        // First the count, then the exchange. A `detach` that follows the exchange has read what
        // the exchange wrote, so its zero comes after this count, and no request is overwritten.
        // Hence relaxed here, and both orderings in the two exchanges.
        unsafe count(of: thread).pointee.store(capacity, ordering: .relaxed)
        _ = unsafe freeDetached(of: thread)
    }

    /// Frees the values of a thread that ends, on it; also those that the deinits of values store
    /// meanwhile.
    static func clear(of thread: ThreadRecord) {
        var freed = unsafe -Int(header(of: thread)?.pointee.capacity ?? 0)
        repeat {
            unsafe freeAll(of: thread, counting: &freed)
        } while unsafe freeDetached(of: thread)
        guard let header = unsafe header(of: thread) else { return }
        // Relaxed: only this thread reads it while it has a table, and the record's next thread
        // starts from zero.
        unsafe count(of: thread).pointee.store(0, ordering: .relaxed)
        unsafe thread.pointee.locals = nil
        unsafe header.deallocate()
    }

    /// Frees one entry after another until all are empty.
    private static func freeAll(of thread: ThreadRecord, counting freed: inout Int) {
        var index = 0
        var emptyInARow = 0
        // A deinit may store values, behind the index or before it, and grow the table.
        while let header = unsafe header(of: thread), unsafe emptyInARow < header.pointee.capacity {
            if unsafe index >= header.pointee.capacity { index = 0 }
            defer { index += 1 }
            guard let value = unsafe entries(of: thread)[index].value else {
                emptyInARow += 1
                continue
            }
            emptyInARow = 0
            unsafe entries(of: thread)[index] = .empty
            let node = unsafe LocalNode.before(value)
            // If it cannot be unlinked, its thread-local is gone, and the node is a detached one.
            if unsafe node.pointee.storage.takeUnretainedValue().unlink(node) {
                unsafe LocalNode.free(node)
            }
            freed += 1
            require(
                freed < maxStoredAtEnd,
                "A thread cannot end: deinits of thread-local values have stored \(freed) others meanwhile "
                    + "(law 23). Do not store a thread-local value in the deinit of another one.")
        }
    }

    /// Frees the values that were handed to the thread; false if there were none.
    private static func freeDetached(of thread: ThreadRecord) -> Bool {
        // Acquiring: the nodes are seen as they were left. Releasing: see `collect`.
        let head = unsafe detached(of: thread).pointee.exchange(0, ordering: .acquiringAndReleasing)
        guard let first = unsafe LocalNode.Pointer(bitPattern: head) else { return false }
        var next: LocalNode.Pointer? = unsafe first
        while let node = unsafe next {
            let index = unsafe Int(node.pointee.storage.takeUnretainedValue().index)
            // On a thread that ends, the value may be out of the table already.
            if unsafe entries(of: thread)[index].value == LocalNode.value(of: node) {
                unsafe entries(of: thread)[index] = .empty
            }
            unsafe next = node.pointee.next
        }
        // Only now, with the table in order, because a deinit may use it.
        unsafe next = first
        while let node = unsafe next {
            unsafe next = node.pointee.next
            unsafe LocalNode.free(node)
        }
        return true
    }

    private static func detached(of thread: ThreadRecord) -> UnsafeMutablePointer<Atomic<UInt>> {
        unsafe ec_thread_detached(thread).assumingMemoryBound(to: Atomic<UInt>.self)
    }
}
