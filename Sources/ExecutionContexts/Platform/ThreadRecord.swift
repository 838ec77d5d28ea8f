public import CPlatform
internal import Synchronization

/// The library's record of a thread: its number, the word it parks on, its slots, its values.
///
/// Numbers are the library's own and small: the system's are stale in a forked child. Records are
/// never freed, because a waker may come late. The next thread that needs one gets the record of a
/// thread that has ended.
@usableFromInline
typealias ThreadRecord = UnsafeMutablePointer<ec_thread>

@usableFromInline
enum Threads {
    /// The record of the thread for which the calling thread acts; it answers every "am I inside".
    ///
    /// It is the calling thread's own, or that of the thread whose `sync` it runs: see `Caller`.
    @inlinable @inline(__always)
    static var current: ThreadRecord {
        if let thread = unsafe ec_caller() { return unsafe thread }
        return unsafe attach()
    }

    /// The record of the calling thread itself: for parking, its values and its simulation.
    @inlinable @inline(__always)
    static var own: ThreadRecord {
        if let thread = unsafe ec_thread_current() { return unsafe thread }
        return unsafe attach()
    }

    /// Whether the calling thread acts for the program's first thread.
    static var isForMain: Bool { unsafe current.pointee.is_main }

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

    /// Gives the calling thread a record, or restores the one that it has.
    @usableFromInline @inline(never)
    static func attach() -> ThreadRecord {
        if let thread = unsafe ec_thread_recall() { return unsafe thread }
        let thread = unsafe records.withUnscheduledLock { unsafe $0.take() }
        unsafe ec_thread_attach(thread) { unsafe Threads.retire($0) }
        return unsafe thread
    }

    private static let records = Guarded<Records>(Records())

    @safe private struct Records: ~Copyable {
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

    /// Frees the values of a thread that ends, on it, and gives its record to the next thread.
    private static func retire(_ thread: ThreadRecord) {
        // The destructor of a value may use this thread's record, so it is still the current one.
        unsafe ec_thread_set(thread)
        unsafe ec_caller_set(thread)
        unsafe LocalTable.clear(of: thread)
        unsafe thread.pointee.owner_number = 0
        ec_thread_set(nil)
        ec_caller_set(nil)
        records.withUnscheduledLock { unsafe $0.giveBack(thread) }
    }
}
