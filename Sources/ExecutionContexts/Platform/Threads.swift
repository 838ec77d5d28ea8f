public import CPlatform

/// The library's record of a thread: its number, the word it parks on, its slots, its values.
///
/// Numbers are the library's own and small: the system's are stale in a forked child. Records are
/// never freed, because a waker may come late. The next thread that needs one gets the record of a
/// thread that has ended.
@usableFromInline
typealias ThreadRecord = UnsafeMutablePointer<ec_thread>

@usableFromInline
enum Threads {
    /// The record of the thread for which the calling thread acts: its own, or that of the thread
    /// whose `sync` it runs. It says what the caller is inside of: see `Caller`.
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

    /// Gives the calling thread a record, or restores the one that it has.
    @usableFromInline @inline(never)
    static func attach() -> ThreadRecord {
        if let thread = unsafe ec_thread_recall() { return unsafe thread }
        let thread = unsafe records.withUnscheduledLock { unsafe $0.take() }
        unsafe ec_thread_attach(thread) { unsafe Threads.retire($0) }
        return unsafe thread
    }

    static let records = Guarded(ThreadRecords())

    /// Frees the values of a thread that ends, on it, and gives its record to the next thread.
    private static func retire(_ thread: ThreadRecord) {
        // The destructor of a value may use this thread's record, so it is still the current one.
        unsafe ec_thread_set(thread)
        unsafe ec_caller_set(thread)
        // The main queue has been handed to the system, and runs beside these destructors.
        if unsafe thread.pointee.is_main {
            unsafe thread.pointee.is_main = false
            unsafe thread.pointee.was_main = true
            ec_main_thread_ended()
        }
        unsafe LocalTable.clear(of: thread)
        unsafe thread.pointee.owner_number = 0
        ec_thread_set(nil)
        ec_caller_set(nil)
        records.withUnscheduledLock { unsafe $0.giveBack(thread) }
    }
}
