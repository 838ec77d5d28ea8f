internal import CPlatform

/// The records of all threads: those of living threads, and those that no thread uses.
@safe struct ThreadRecords: ~Copyable {
    /// The records of living threads, without gaps: a search costs nothing for threads that
    /// have ended.
    private(set) var living: [ThreadRecord] = unsafe []
    private var firstFree: ThreadRecord?
    private var made: UInt32 = 0

    mutating func take() -> ThreadRecord {
        let thread: ThreadRecord
        if let free = unsafe firstFree {
            unsafe firstFree = free.pointee.next_free
            unsafe free.pointee.next_free = nil
            unsafe thread = free
        } else {
            unsafe thread = ThreadSlots.allocateRecord()
            unsafe thread.initialize(to: ec_thread())
            made += 1
            unsafe thread.pointee.identifier = made
        }
        unsafe thread.pointee.index = UInt64(living.count)
        unsafe living.append(thread)
        return unsafe thread
    }

    mutating func giveBack(_ thread: ThreadRecord) {
        // The last record fills the gap.
        let last = unsafe living.removeLast()
        if unsafe last != thread {
            let index = unsafe thread.pointee.index
            unsafe living[Int(index)] = last
            unsafe last.pointee.index = index
        }
        unsafe ThreadSlots.freeBlocks(of: thread)
        unsafe thread.pointee.next_free = firstFree
        unsafe firstFree = thread
    }
}

extension Threads {
    /// Calls `body` on the record of every living thread until it returns true, and returns whether
    /// it did.
    ///
    /// Runs under the lock of the records. If the caller does not find a thread's record because
    /// the thread has ended, what the thread did has happened. If the thread has no record yet,
    /// what it does happens after the caller's earlier changes.
    static func contains(where body: (ThreadRecord) -> Bool) -> Bool {
        records.withUnscheduledLock { records in unsafe records.living.contains { unsafe body($0) }
        }
    }

    /// How many threads have a record.
    static var count: Int { records.withUnscheduledLock { unsafe $0.living.count } }
}
