public import CPlatform
public import Synchronization

/// Each thread's values of thread-locals without a key.
///
/// A record points to a table, and the index of a thread-local selects an entry. Only its own
/// thread accesses a table. Indices are used again, so a thread-local that goes takes these steps:
///
/// 1. It hands each thread its value (`detach`) and sets the thread's count to zero.
/// 2. The thread's fast path, which compares the index with the count anyway, notices it.
/// 3. The thread removes the detached values (`collect`) before it uses the index again.
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
        /// The innermost thread-local whose value is being created or used on this thread.
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
        else { return nil }
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
    /// How many values deinits may store at a thread's end; without a limit it might never end.
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
                successOrdering: .acquiringAndReleasing, failureOrdering: .relaxed)
            if isDone { break }
            head = current
        }
        unsafe count(of: thread).pointee.store(0, ordering: .relaxed)
    }

    /// Frees the values that were handed to the calling thread, and enables the fast path again.
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

    /// Frees the values of a thread that ends, on it, and those that their deinits store meanwhile.
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
            // If it cannot be unlinked, its thread-local is gone, and the node is detached.
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

/// What all threads share of a thread-local without a key: its index, serial and list of values.
///
/// It lives until the thread-local and the last of the values are gone.
@safe final class LocalStorage: Sendable {
    /// The index of the value in each thread's table; used again once the thread-local is gone.
    let index: UInt32
    /// Never used again.
    let serial: UInt64

    private let layout: BlockLayout
    /// The offset of the value from the start of its block.
    fileprivate let offset: Int
    fileprivate let deinitialize: @Sendable (UnsafeMutableRawPointer) -> Void
    private let nodes = Guarded<Nodes>(Nodes())

    @safe private struct Nodes {
        var first: LocalNode.Pointer?
        var isClosed = false
    }

    init<Value>(of type: Value.Type) {
        (index, serial) = LocalIndices.take()
        var layout = BlockLayout()
        _ = layout.append(LocalNode.self)
        // The node ends where the value begins.
        offset = layout.append(
            byteCount: MemoryLayout<Value>.size,
            alignment: max(MemoryLayout<Value>.alignment, MemoryLayout<LocalNode>.alignment))
        self.layout = layout
        unsafe deinitialize = {
            unsafe $0.assumingMemoryBound(to: Value.self).deinitialize(count: 1)
        }
    }

    /// Uninitialized memory for a value of the thread.
    func makeNode(for thread: ThreadRecord) -> UnsafeMutableRawPointer {
        let value = unsafe layout.allocate() + offset
        let node = unsafe LocalNode.before(value)
        unsafe node.initialize(to: LocalNode(storage: .passRetained(self), thread: thread))
        nodes.withLock { nodes in
            unsafe node.pointee.next = nodes.first
            unsafe nodes.first?.pointee.previous = node
            unsafe nodes.first = node
        }
        return unsafe value
    }

    /// Removes a value from the list; false if `close` has taken it, which hands it to its thread.
    func unlink(_ node: LocalNode.Pointer) -> Bool {
        nodes.withLock { nodes in
            if nodes.isClosed { return false }
            if let previous = unsafe node.pointee.previous {
                unsafe previous.pointee.next = node.pointee.next
            } else {
                unsafe nodes.first = node.pointee.next
            }
            unsafe node.pointee.next?.pointee.previous = node.pointee.previous
            return true
        }
    }

    /// Hands each thread its value, and frees the caller's; for a thread-local that is gone.
    func close() {
        nodes.withLock { nodes in
            nodes.isClosed = true
            var next = unsafe nodes.first
            while let node = unsafe next {
                unsafe next = node.pointee.next
                // Under the lock, so that a thread that ends and finds the list closed also finds
                // the value.
                unsafe LocalTable.detach(node)
            }
        }
        // Only now: before the index is used again, every thread must have been handed its value.
        LocalIndices.giveBack(index)
        if let thread = unsafe ec_thread_current() { unsafe LocalTable.collect(thread) }
    }
}

/// The header in front of a value.
@safe struct LocalNode {
    typealias Pointer = UnsafeMutablePointer<LocalNode>

    /// The thread-local's storage, retained.
    let storage: Unmanaged<LocalStorage>
    let thread: ThreadRecord
    // Accessed under the lock of `storage` while it is open; then `next` leads to the thread's next
    // detached node.
    var next: Pointer?
    var previous: Pointer?

    static func before(_ value: UnsafeMutableRawPointer) -> Pointer {
        unsafe (value - MemoryLayout<LocalNode>.size).assumingMemoryBound(to: LocalNode.self)
    }

    static func value(of node: Pointer) -> UnsafeMutableRawPointer {
        unsafe UnsafeMutableRawPointer(node) + MemoryLayout<LocalNode>.size
    }

    /// Frees a node that is in no list and in no table, and the value behind it.
    static func free(_ node: Pointer) {
        let storage = unsafe node.pointee.storage.takeRetainedValue()
        let value = unsafe value(of: node)
        unsafe storage.deinitialize(value)
        unsafe (value - storage.offset).deallocate()
    }
}

/// The indices of thread-locals without a key.
private struct LocalIndices {
    private var free: [UInt32] = []
    private var next: UInt32 = 0
    private var serial: UInt64 = 0

    private static let state = Guarded(LocalIndices())

    // Without a scheduling point: a static thread-local takes an index in the first schedule only,
    // and which index it is orders nothing.
    static func take() -> (index: UInt32, serial: UInt64) {
        SimulationHooks.making {
            state.withLock { state in
                state.serial += 1
                if let index = state.free.popLast() { return (index, state.serial) }
                state.next += 1
                return (state.next - 1, state.serial)
            }
        }
    }

    static func giveBack(_ index: UInt32) { state.withLock { $0.free.append(index) } }
}

/// Records on a thread's stack that a thread-local's value is being created or used there (law 22).
///
/// So an instantiator that reads its own thread-local does not call itself, and a value that a
/// closure has taken out of its storage is not overlooked.
@safe struct LocalInitialization {
    private let owner: UnsafeRawPointer
    private let outer: UnsafeMutablePointer<LocalInitialization>?
    private let isUse: Bool

    /// Runs `body`, unless it is already running on the calling thread for this owner.
    static func once<Value>(_ owner: AnyObject, _ body: () -> Value?) -> Value? {
        if unsafe first(of: owner, where: { unsafe !$0.pointee.isUse }) != nil { return nil }
        return record(owner, isUse: false, body)
    }

    /// Runs `body`, which has taken the value of `owner` out of its storage.
    static func using<Result: ~Copyable, Failure: Error>(
        _ owner: AnyObject, _ body: () throws(Failure) -> Result
    ) throws(Failure) -> Result { try record(owner, isUse: true, body) }

    /// Whether a closure on the calling thread has taken the value of `owner` out of its storage.
    static func isUsed(_ owner: AnyObject) -> Bool {
        unsafe first(of: owner) { _ in true }?.pointee.isUse ?? false
    }

    private static func record<Result: ~Copyable, Failure: Error>(
        _ owner: AnyObject, isUse: Bool, _ body: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        let thread = unsafe Threads.own
        unsafe LocalTable.reserve(0, on: thread)
        let outer = unsafe LocalTable.header(of: thread)?.pointee.making
        var frame = unsafe LocalInitialization(
            owner: UnsafeRawPointer(Unmanaged.passUnretained(owner).toOpaque()), outer: outer,
            isUse: isUse)
        return try unsafe withUnsafeMutablePointer(to: &frame) {
            (pointer: UnsafeMutablePointer<LocalInitialization>) throws(Failure) -> Result in
            // The header is looked up each time: the body may grow the table, which moves it.
            unsafe LocalTable.header(of: thread)?.pointee.making = pointer
            defer { unsafe LocalTable.header(of: thread)?.pointee.making = outer }
            return try body()
        }
    }

    /// The innermost record of `owner` on the calling thread for which `isWanted` returns true.
    private static func first(
        of owner: AnyObject, where isWanted: (UnsafeMutablePointer<LocalInitialization>) -> Bool
    ) -> UnsafeMutablePointer<LocalInitialization>? {
        guard let thread = unsafe ec_thread_current() else { return nil }
        let owner = unsafe UnsafeRawPointer(Unmanaged.passUnretained(owner).toOpaque())
        var next = unsafe LocalTable.header(of: thread)?.pointee.making
        while let frame = unsafe next {
            if unsafe frame.pointee.owner == owner && isWanted(frame) { return unsafe frame }
            unsafe next = frame.pointee.outer
        }
        return nil
    }
}
