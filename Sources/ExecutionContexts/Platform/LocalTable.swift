public import CPlatform
public import Synchronization

/// The values that each thread has of thread-locals without a key.
///
/// A record leads to a table, which the small number of a thread-local is an index into. Only its own thread
/// touches a table. Numbers are used again, so who drops a thread-local first hands each thread the values it has
/// of it (`orphan`) and sets the thread's count to zero: the short way, which must compare the index with the count
/// anyhow, finds out for nothing, and the thread takes the values out before it uses the number for another. The
/// serial, which is never used again, stands guard over that: whatever went wrong, a value is not taken for
/// another one's, of another type perhaps.
@usableFromInline
enum LocalTable {
    /// Where a thread has the value of the thread-local with this serial; serial 0 is nobody's.
    @usableFromInline @safe
    struct Entry {
        @usableFromInline var value: UnsafeMutableRawPointer?
        @usableFromInline var serial: UInt64

        static var empty: Entry { unsafe Entry(value: nil, serial: 0) }
    }

    /// What stands before the entries of a table.
    @safe struct Header {
        var capacity: UInt32
        /// The thread-locals whose values are being made on this thread, the innermost first.
        var making: UnsafeMutablePointer<LocalMaking>?
    }

    /// The calling thread's value, if it has one and nothing else is to be done; nil says to look in `found`.
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
    static func found(_ home: LocalHome) -> UnsafeMutableRawPointer? {
        guard let thread = unsafe ec_thread_current() else { return nil }
        unsafe settle(thread)
        return unsafe lookUp(thread, home)
    }

    /// Gives the calling thread a value, instead of the one it has if it has one.
    static func store<Value>(_ value: consuming Value, for home: LocalHome) {
        let thread = unsafe Threads.own
        // This may run deinits, and so comes before everything else.
        unsafe settle(thread)
        if let present = unsafe lookUp(thread, home) {
            return unsafe replace(present.assumingMemoryBound(to: Value.self), by: value)
        }
        unsafe reserve(home.index, on: thread)
        let place = unsafe home.makeCell(for: thread)
        unsafe place.assumingMemoryBound(to: Value.self).initialize(to: value)
        // What stands here, if anything does, is an orphan, which whoever frees it does not look for here.
        unsafe entries(of: thread)[Int(home.index)] = Entry(value: place, serial: home.serial)
    }

    /// Puts a value in the place of another one, which is freed when the new one can be seen.
    @inlinable @inline(__always)
    static func replace<Value>(_ place: UnsafeMutablePointer<Value>, by value: consuming Value) {
        let old = unsafe place.move()
        unsafe place.initialize(to: value)
        withExtendedLifetime(old) {}
    }

    /// Frees the calling thread's value, if it has one.
    static func remove(_ home: LocalHome) {
        guard let thread = unsafe ec_thread_current() else { return }
        unsafe settle(thread)
        guard let value = unsafe lookUp(thread, home) else { return }
        // First out of the table, then freed: the deinit may use this table.
        unsafe entries(of: thread)[Int(home.index)] = .empty
        let cell = unsafe LocalCell.before(value)
        if unsafe home.unlink(cell) { unsafe LocalCell.free(cell) }
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

    /// By the capacity and not by the count, which another thread may set to zero at any time.
    private static func lookUp(_ thread: ThreadRecord, _ home: LocalHome) -> UnsafeMutableRawPointer? {
        guard let header = unsafe header(of: thread), unsafe home.index < header.pointee.capacity else {
            return nil
        }
        let entry = unsafe entries(of: thread)[Int(home.index)]
        return unsafe entry.serial == home.serial ? entry.value : nil
    }

    /// Makes sure that the table has an entry of this index.
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
        // The count stays, since a request in it must not be lost; `settle` mends it at the next use.
        unsafe thread.pointee.locals = UnsafeMutableRawPointer(entries)
    }
}
