internal import CPlatform
internal import Synchronization

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
