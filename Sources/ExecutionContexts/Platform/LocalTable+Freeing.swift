internal import CPlatform
internal import Synchronization

/// How values are freed whose thread ends, or whose thread-local is gone (law 23).
extension LocalTable {
    /// The deinits of values may store so many at most while a thread ends; else it would perhaps never end.
    private static var mostStoredAtEnd: Int { 1 << 20 }

    /// Hands a value that cannot be reached any more to its thread; called under the lock of its home.
    static func orphan(_ cell: LocalCell.Pointer) {
        let thread = unsafe cell.pointee.thread
        let orphans = unsafe orphans(of: thread)
        var head = unsafe orphans.pointee.load(ordering: .relaxed)
        while true {
            unsafe cell.pointee.next = LocalCell.Pointer(bitPattern: head)
            // Releasing: the thread finds the cell as it is. Acquiring: see `settle`.
            let (isDone, current) = unsafe orphans.pointee.compareExchange(
                expected: head, desired: UInt(bitPattern: cell), successOrdering: .acquiringAndReleasing,
                failureOrdering: .relaxed)
            if isDone { break }
            head = current
        }
        unsafe count(of: thread).pointee.store(0, ordering: .relaxed)
    }

    /// Frees what has been handed to the calling thread, if anything has, and lets the short way be taken again.
    static func settle(_ thread: ThreadRecord) {
        guard let header = unsafe header(of: thread) else { return }
        let capacity = unsafe header.pointee.capacity
        if unsafe count(of: thread).pointee.load(ordering: .relaxed) == capacity { return }
        // First the count, then the exchange. Whoever hands over after the exchange has read what it wrote, so
        // his zero comes after this count, not before it: no request is lost. Hence relaxed here, and both
        // orderings there.
        unsafe count(of: thread).pointee.store(capacity, ordering: .relaxed)
        _ = unsafe freeOrphans(of: thread)
    }

    /// Frees the values of a thread that ends, on it; also those that the deinits of values store meanwhile.
    static func clear(of thread: ThreadRecord) {
        var freed = unsafe -Int(header(of: thread)?.pointee.capacity ?? 0)
        repeat { unsafe freeAll(of: thread, counting: &freed) } while unsafe freeOrphans(of: thread)
        guard let header = unsafe header(of: thread) else { return }
        // Relaxed: only this thread reads it with a table at hand, and the next one starts from zero.
        unsafe count(of: thread).pointee.store(0, ordering: .relaxed)
        unsafe thread.pointee.locals = nil
        unsafe header.deallocate()
    }

    /// Frees one entry after another until all are empty.
    private static func freeAll(of thread: ThreadRecord, counting freed: inout Int) {
        var index = 0
        var emptyInARow = 0
        // A deinit may store values, behind the index or before it, and make the table larger.
        while let header = unsafe header(of: thread), unsafe emptyInARow < header.pointee.capacity {
            if unsafe index >= header.pointee.capacity { index = 0 }
            defer { index += 1 }
            guard let value = unsafe entries(of: thread)[index].value else {
                emptyInARow += 1
                continue
            }
            emptyInARow = 0
            unsafe entries(of: thread)[index] = .empty
            let cell = unsafe LocalCell.before(value)
            // If it cannot be unlinked, its thread-local is gone, and the cell is among the orphans.
            if unsafe cell.pointee.home.takeUnretainedValue().unlink(cell) { unsafe LocalCell.free(cell) }
            freed += 1
            require(
                freed < mostStoredAtEnd,
                "A thread cannot end: \(freed) thread-local values have been stored by the deinits of others "
                    + "meanwhile (law 23). Do not make a value of a thread-local in the deinit of its like.")
        }
    }

    /// Frees what has been handed to the thread; false if nothing had been.
    private static func freeOrphans(of thread: ThreadRecord) -> Bool {
        // Acquiring: the cells are found as they were left. Releasing: see `settle`.
        let head = unsafe orphans(of: thread).pointee.exchange(0, ordering: .acquiringAndReleasing)
        guard let first = unsafe LocalCell.Pointer(bitPattern: head) else { return false }
        var next: LocalCell.Pointer? = unsafe first
        while let cell = unsafe next {
            let index = unsafe Int(cell.pointee.home.takeUnretainedValue().index)
            // Unless it is out of the table already, on a thread that ends.
            if unsafe entries(of: thread)[index].value == LocalCell.value(of: cell) {
                unsafe entries(of: thread)[index] = .empty
            }
            unsafe next = cell.pointee.next
        }
        // Only now, with the table in order, since a deinit may use it.
        unsafe next = first
        while let cell = unsafe next {
            unsafe next = cell.pointee.next
            unsafe LocalCell.free(cell)
        }
        return true
    }

    private static func orphans(of thread: ThreadRecord) -> UnsafeMutablePointer<Atomic<UInt>> {
        unsafe ec_thread_orphans(thread).assumingMemoryBound(to: Atomic<UInt>.self)
    }
}
