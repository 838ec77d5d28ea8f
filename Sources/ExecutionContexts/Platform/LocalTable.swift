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
