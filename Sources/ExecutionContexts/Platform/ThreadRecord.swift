public import CPlatform
internal import Synchronization

/// What the library knows of a thread: its number, the word it sleeps on, what it reads, its values.
///
/// Numbers are the library's own and small: the system's are stale in a forked child. Records are never freed,
/// since other threads look at them; the next thread that needs one gets that of a thread that has ended.
@usableFromInline
typealias ThreadRecord = UnsafeMutablePointer<ec_thread>

@usableFromInline
enum Threads {
    /// The record of the calling thread.
    @inlinable @inline(__always)
    static var current: ThreadRecord {
        if let thread = unsafe ec_thread_current() { return unsafe thread }
        return unsafe attach()
    }

    /// Calls `body` on the record of every thread there is or was, until it returns true; says if it did.
    static func contains(where body: (ThreadRecord) -> Bool) -> Bool {
        // Acquiring: a record that is found has been set up.
        var next = unsafe ThreadRecord(bitPattern: all.load(ordering: .acquiring))
        while let thread = unsafe next {
            if unsafe body(thread) { return true }
            unsafe next = ec_thread_next(thread)
        }
        return false
    }

    /// Gives the calling thread a record.
    @usableFromInline @inline(never)
    static func attach() -> ThreadRecord {
        let thread = unsafe reuse() ?? create()
        unsafe ec_thread_attach(thread) { unsafe Threads.retire($0) }
        return unsafe thread
    }

    /// The head of the list of all records, which only grows.
    private static let all = Atomic<UInt>(0)
    /// The records of threads that have ended.
    private static let free = Guarded<Free>(Free())

    @safe private struct Free {
        var first: ThreadRecord?
        var made: UInt32 = 0
    }

    private static func reuse() -> ThreadRecord? {
        unsafe free.withLock { free in
            guard let thread = unsafe free.first else { return nil }
            unsafe free.first = thread.pointee.next_free
            unsafe thread.pointee.next_free = nil
            return unsafe thread
        }
    }

    private static func create() -> ThreadRecord {
        let thread = unsafe HeldSlots.allocateRecord()
        unsafe thread.initialize(to: ec_thread())
        unsafe thread.pointee.identifier = free.withLock { free in
            free.made += 1
            return free.made
        }
        var head = all.load(ordering: .relaxed)
        while true {
            unsafe thread.pointee.next = ThreadRecord(bitPattern: head)
            // Releasing: who finds the record finds it set up.
            let (isDone, current) = all.compareExchange(
                expected: head, desired: UInt(bitPattern: thread), successOrdering: .releasing,
                failureOrdering: .relaxed)
            if isDone { return unsafe thread }
            head = current
        }
    }

    /// The thread ends: frees its values, on it, and gives its record to the next one.
    private static func retire(_ thread: ThreadRecord) {
        // A destructor of a value may use this thread's record, so it is still the current one.
        unsafe ec_thread_set(thread)
        unsafe LocalTable.clear(of: thread)
        ec_thread_set(nil)
        free.withLock { free in
            unsafe thread.pointee.next_free = free.first
            unsafe free.first = thread
        }
    }
}
