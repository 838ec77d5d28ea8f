public import CPlatform
public import Synchronization

/// A lock that knows its owner: a word with the owner's number, and a wait queue.
///
/// Each system takes and releases it in its own way, and shares the wait queue. A thread that
/// arrives may overtake the waiters, which keeps the lock busy.
@safe @usableFromInline
struct OwnedLock: ~Copyable {
    @usableFromInline typealias Word = UnsafeMutablePointer<Atomic<UInt32>>
    private typealias Queued = WaiterQueue<Void>.Pointer

    /// Zero, or the number of the lock owner.
    @usableFromInline let owner: Word
    /// Zero, or what a release must know of the wait queue: see `WaitQueue.summary`.
    @usableFromInline let waiters: Word
    private let queue = Guarded(WaitQueue())

    private struct WaitQueue: ~Copyable {
        var waiting = WaiterQueue<Void>()
        /// Whether a waiter was woken and has not run yet: no other needs to be woken.
        var isWakePending = false
        /// Whether the next release hands the lock over.
        var isFirstStarving = false
        var lastHandOver: Int64 = 0

        var summary: UInt32 {
            waiting.count << 2 | (isFirstStarving ? starving : 0)
                | (isWakePending ? wakePending : 0)
        }

        /// Wakes the first waiter, unless a wake-up is pending.
        mutating func wakeFirst() -> Parker? {
            guard !isWakePending, let first = unsafe waiting.first else { return nil }
            unsafe first.pointee.isWoken = true
            isWakePending = true
            return unsafe first.pointee.parker
        }

        mutating func remove(_ waiter: Queued) {
            if unsafe waiter.pointee.isWoken { isWakePending = false }
            // A waiter further back that gives up changes nothing for the first one.
            if unsafe waiter == waiting.first { isFirstStarving = false }
            unsafe waiting.remove(waiter)
        }

        /// Decides how a woken waiter that was overtaken waits on; it parks again.
        mutating func reconsider(_ waiter: Queued, now: Int64) {
            unsafe waiter.pointee.isWoken = false
            isWakePending = false
            // One waiter at a time, and not every one that waits long: a hand-over costs a switch
            // of threads.
            isFirstStarving =
                unsafe handsOver && now - max(waiter.pointee.since, lastHandOver) > maxOvertaking
        }
    }

    @usableFromInline static var wakePending: UInt32 { 1 }
    @usableFromInline static var starving: UInt32 { 2 }
    /// How long a waiter may be overtaken, in nanoseconds.
    private static var maxOvertaking: Int64 { 1_000_000 }

    init() {
        unsafe owner = Self.allocate().bindMemory(to: Atomic<UInt32>.self, capacity: 2)
        unsafe waiters = owner + 1
        unsafe owner.initialize(to: Atomic(0))
        unsafe waiters.initialize(to: Atomic(0))
    }

    deinit {
        unsafe owner.deinitialize(count: 2)
        unsafe owner.deallocate()
    }

    /// Whether some thread waits for the lock, as far as the caller can see.
    var hasWaiters: Bool { unsafe waiters.pointee.load(ordering: .relaxed) != 0 }

    /// The number of the present lock owner, or zero.
    var holder: UInt32 { unsafe owner.pointee.load(ordering: .relaxed) }

    @inlinable @inline(__always)
    borrowing func isHeld(by thread: ThreadRecord) -> Bool {
        // Relaxed: a thread finds its own number only if it stored the number, or has seen the lock
        // handed over to it.
        unsafe owner.pointee.load(ordering: .relaxed) == thread.pointee.identifier
    }

    /// Waits in the queue for the lock and takes it; false if `deadline` passed first.
    borrowing func waitInQueue(_ thread: ThreadRecord, until deadline: Int64) -> Bool {
        var waiter = unsafe Waiter(thread, ())
        return unsafe withUnsafeMutablePointer(to: &waiter) { unsafe wait($0, until: deadline) }
    }

    private borrowing func wait(_ waiter: Queued, until deadline: Int64) -> Bool {
        let thread = unsafe waiter.pointee.thread
        change { unsafe $0.waiting.append(waiter) }
        ec_barrier()
        while true {
            if unsafe tryEnterAnnounced(thread) {
                change { unsafe $0.remove(waiter) }
                return true
            }
            unsafe waiter.pointee.parker.park(until: deadline)
            let now = unsafe SimulationHooks.now(thread)
            var wasWoken = false
            var next: Parker?
            let outcome: Bool? = change { queue in
                if unsafe waiter.pointee.isAdmitted { return true }
                wasWoken = unsafe waiter.pointee.isWoken
                if now >= deadline {
                    unsafe queue.remove(waiter)
                    // The wake-up passes to the next waiter.
                    if wasWoken { next = queue.wakeFirst() }
                    return false
                }
                if wasWoken { unsafe queue.reconsider(waiter, now: now) }
                return nil
            }
            if let next { unsafe next.unpark(by: thread) }
            if let outcome { return outcome }
            // While its wake-up was pending, releases woke no other waiter.
            if wasWoken { ec_barrier() }
        }
    }

    @usableFromInline @inline(never)
    borrowing func wakeFirst(_ thread: ThreadRecord) {
        unsafe change { $0.wakeFirst() }?.unpark(by: thread)
    }

    /// Makes the first waiter the lock owner; false if there is none.
    @usableFromInline @inline(never)
    borrowing func handOver(_ thread: ThreadRecord) -> Bool {
        let now = unsafe SimulationHooks.now(thread)
        let newOwner: Parker? = change { queue in
            guard let first = unsafe queue.waiting.first else { return nil }
            unsafe queue.remove(first)
            queue.lastHandOver = now
            unsafe first.pointee.isAdmitted = true
            // Releasing, for the new owner. An exchange, because a retain may sink below a mere
            // store.
            _ = unsafe owner.pointee.exchange(
                ec_thread_identifier(first.pointee.thread), ordering: .acquiringAndReleasing)
            return unsafe first.pointee.parker
        }
        if newOwner != nil { unsafe SimulationHooks.handedOver(owner) }
        unsafe newOwner?.unpark(by: thread)
        return newOwner != nil
    }

    /// Changes the wait queue and publishes its summary for releases.
    ///
    /// The result is a value of the library's. No user code is called or freed here (law 9).
    private borrowing func change<Result>(_ body: (inout WaitQueue) -> Result) -> Result {
        unsafe SimulationHooks.point(waiters, mode: ec_mode())
        return queue.withLock { queue in
            let before = queue.summary
            let result = body(&queue)
            if queue.summary != before { publish(queue.summary) }
            return result
        }
    }
}

// Unchecked: its words are atomic, the wait queue has its lock, and so has each system's part.
extension OwnedLock: @unchecked Sendable {}
