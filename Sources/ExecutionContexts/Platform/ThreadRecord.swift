public import CPlatform
internal import Synchronization

/// What the library knows of a thread: its number, the word it sleeps on, what it reads, its values.
///
/// Numbers are the library's own and small: the system's are stale in a forked child. Records are never freed,
/// since a waker may come late; the next thread that needs one gets that of a thread that has ended.
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

    /// The record of the calling thread itself: for what it sleeps on, its values and its
    /// simulation.
    @inlinable @inline(__always)
    static var own: ThreadRecord {
        if let thread = unsafe ec_thread_current() { return unsafe thread }
        return unsafe attach()
    }

    /// Whether the calling thread acts for the program's first thread.
    static var isForMain: Bool { unsafe current.pointee.is_main }

    /// Calls `body` on the record of every living thread until it returns true; says if it did.
    ///
    /// Under the lock of the records. What a thread did before it ended has happened for a caller that does not
    /// find its record; what a thread does that has none yet happens after the caller's earlier changes.
    static func contains(where body: (ThreadRecord) -> Bool) -> Bool {
        records.withLockAside { records in unsafe records.living.contains { unsafe body($0) } }
    }

    /// How many threads have a record.
    static var count: Int { records.withLockAside { unsafe $0.living.count } }

    /// Gives the calling thread a record, or back the one that it has.
    @usableFromInline @inline(never)
    static func attach() -> ThreadRecord {
        if let thread = unsafe ec_thread_recall() { return unsafe thread }
        let thread = unsafe records.withLockAside { unsafe $0.take() }
        unsafe ec_thread_attach(thread) { unsafe Threads.retire($0) }
        return unsafe thread
    }

    private static let records = Guarded<Records>(Records())

    @safe private struct Records: ~Copyable {
        /// The records of living threads, without gaps: a search costs what these cost, and nothing for those that ended.
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
                unsafe thread = HeldSlots.allocateRecord()
                unsafe thread.initialize(to: ec_thread())
                made += 1
                unsafe thread.pointee.identifier = made
            }
            unsafe thread.pointee.place = UInt64(living.count)
            unsafe living.append(thread)
            return unsafe thread
        }

        mutating func giveBack(_ thread: ThreadRecord) {
            // The last one fills the gap.
            let last = unsafe living.removeLast()
            if unsafe last != thread {
                let place = unsafe thread.pointee.place
                unsafe living[Int(place)] = last
                unsafe last.pointee.place = place
            }
            unsafe HeldSlots.freeBlocks(of: thread)
            unsafe thread.pointee.next_free = firstFree
            unsafe firstFree = thread
        }
    }

    /// The thread ends: frees its values, on it, and gives its record to the next one.
    private static func retire(_ thread: ThreadRecord) {
        // A destructor of a value may use this thread's record, so it is still the current one.
        unsafe ec_thread_set(thread)
        unsafe ec_caller_set(thread)
        unsafe LocalTable.clear(of: thread)
        unsafe thread.pointee.hold = 0
        ec_thread_set(nil)
        ec_caller_set(nil)
        records.withLockAside { unsafe $0.giveBack(thread) }
    }
}
