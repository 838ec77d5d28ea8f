#if canImport(Darwin)
public import CPlatform
public import Synchronization
internal import os

/// A lock that knows its owner.
///
/// The system's lock, and a word with the owner's number. The system's lock raises an owner of low
/// priority while a thread of high priority waits. It has no wait with a time limit: a thread with
/// a limit joins the wait queue, and a release wakes it to try again. A simulated thread waits
/// there too, with the scheduling points that it has on every system.
@safe @usableFromInline
struct OwnedLock: ~Copyable {
    @usableFromInline typealias Word = UnsafeMutablePointer<Atomic<UInt32>>

    /// Zero, or the number of the lock owner.
    @usableFromInline let owner: Word
    /// Zero, or what a release must know of the wait queue: see `WaitQueue.summary`.
    private let waiters: Word
    private let native: UnsafeMutablePointer<os_unfair_lock_s>
    private let queue = Guarded(WaitQueue())

    private struct WaitQueue: ~Copyable {
        var waiting = WaiterQueue<Void>()
        /// Whether a waiter was woken and has not run yet: no other needs to be woken.
        var isWakePending = false

        var summary: UInt32 { waiting.count << 1 | (isWakePending ? wakePending : 0) }

        /// Wakes the first waiter, unless a wake-up is pending.
        mutating func wakeFirst() -> Parker? {
            guard !isWakePending, let first = unsafe waiting.first else { return nil }
            unsafe first.pointee.isWoken = true
            isWakePending = true
            return unsafe first.pointee.parker
        }

        mutating func remove(_ waiter: UnsafeMutablePointer<Waiter<Void>>) {
            if unsafe waiter.pointee.isWoken { isWakePending = false }
            unsafe waiting.remove(waiter)
        }
    }

    private static var wakePending: UInt32 { 1 }

    init() {
        // Cache lines of its own, because unrelated threads that share one slow each other down.
        let memory = UnsafeMutableRawPointer.allocate(byteCount: 128, alignment: 128)
        unsafe owner = memory.bindMemory(to: Atomic<UInt32>.self, capacity: 2)
        unsafe waiters = owner + 1
        unsafe native = UnsafeMutableRawPointer(owner + 2).bindMemory(
            to: os_unfair_lock_s.self, capacity: 1)
        unsafe owner.initialize(to: Atomic(0))
        unsafe waiters.initialize(to: Atomic(0))
        unsafe native.initialize(to: os_unfair_lock_s())
    }

    deinit {
        unsafe native.deinitialize(count: 1)
        unsafe owner.deinitialize(count: 2)
        unsafe owner.deallocate()
    }

    /// Whether some thread waits for the lock, as far as the caller can see.
    var hasWaiters: Bool { unsafe waiters.pointee.load(ordering: .relaxed) != 0 }

    /// The number of the present lock owner, or zero.
    var holder: UInt32 { unsafe owner.pointee.load(ordering: .relaxed) }

    @inlinable @inline(__always)
    borrowing func isHeld(by thread: ThreadRecord) -> Bool {
        // Relaxed: only this thread writes its own number.
        unsafe owner.pointee.load(ordering: .relaxed) == thread.pointee.identifier
    }

    /// Takes the lock, if it is free, for a thread that does not own it.
    @usableFromInline
    borrowing func tryEnter(_ thread: ThreadRecord, waits: Bool = false) -> Bool {
        unsafe SimulationHooks.attempt(owner, waits: waits, mode: ec_mode())
        guard unsafe os_unfair_lock_trylock(native) else { return false }
        // Relaxed: the system's lock orders what its owners do.
        unsafe owner.pointee.store(thread.pointee.identifier, ordering: .relaxed)
        return true
    }

    @usableFromInline
    borrowing func leave(_ thread: ThreadRecord) {
        let mode = ec_mode()
        unsafe SimulationHooks.point(owner, mode: mode)
        // Relaxed, as above.
        unsafe owner.pointee.store(0, ordering: .relaxed)
        unsafe os_unfair_lock_unlock(native)
        unsafe SimulationHooks.point(waiters, mode: mode)
        // A read-modify-write, and so is every announcement of a waiter. If this one comes second,
        // it reads the announcement. If it comes first, the announcement synchronizes with it, and
        // the waiter's next try sees the release. Sequentially consistent, so that it stays behind
        // the release.
        let waiting = unsafe waiters.pointee.bitwiseOr(0, ordering: .sequentiallyConsistent)
            .oldValue
        if waiting != 0 && waiting & Self.wakePending == 0 { unsafe wakeFirst(thread) }
    }

    /// Waits for the lock and takes it; false if `deadline` passed first.
    @usableFromInline @inline(never)
    borrowing func wait(_ thread: ThreadRecord, until deadline: Int64) -> Bool {
        if deadline == .min { return false }
        if unsafe deadline != .max || thread.pointee.simulation != nil {
            var waiter = unsafe Waiter(thread, ())
            return unsafe withUnsafeMutablePointer(to: &waiter) { unsafe wait($0, until: deadline) }
        }
        // Notifies the thread's owner that it blocks, as every wait of the library does.
        BlockingScope.waiting { unsafe os_unfair_lock_lock(native) }
        // Relaxed, as above.
        unsafe owner.pointee.store(thread.pointee.identifier, ordering: .relaxed)
        return true
    }

    private borrowing func wait(_ waiter: UnsafeMutablePointer<Waiter<Void>>, until deadline: Int64)
        -> Bool
    {
        let thread = unsafe waiter.pointee.thread
        change { unsafe $0.waiting.append(waiter) }
        while true {
            if unsafe tryEnter(thread) {
                change { unsafe $0.remove(waiter) }
                return true
            }
            unsafe waiter.pointee.parker.park(until: deadline)
            let now = unsafe SimulationHooks.now(thread)
            var next: Parker?
            let isOver = change { queue in
                let wasWoken = unsafe waiter.pointee.isWoken
                if now >= deadline {
                    unsafe queue.remove(waiter)
                    // The wake-up passes to the next waiter.
                    if wasWoken { next = queue.wakeFirst() }
                    return true
                }
                if wasWoken {
                    // If another thread takes the lock first, this thread sleeps again, and a
                    // release wakes it again.
                    unsafe waiter.pointee.isWoken = false
                    queue.isWakePending = false
                }
                return false
            }
            if let next { unsafe next.unpark(by: thread) }
            if isOver { return false }
        }
    }

    @inline(never)
    private borrowing func wakeFirst(_ thread: ThreadRecord) {
        unsafe change { $0.wakeFirst() }?.unpark(by: thread)
    }

    /// Changes the wait queue and publishes its summary for releases.
    ///
    /// The result is a value of the library's. No user code is called or freed here (law 9).
    private borrowing func change<Result>(_ body: (inout WaitQueue) -> Result) -> Result {
        unsafe SimulationHooks.point(waiters, mode: ec_mode())
        return queue.withLock { queue in
            let before = queue.summary
            let result = body(&queue)
            // An exchange: see `leave`.
            if queue.summary != before {
                _ = unsafe waiters.pointee.exchange(
                    queue.summary, ordering: .sequentiallyConsistent)
            }
            return result
        }
    }
}

// Unchecked: its words are atomic, the wait queue has its lock, and the system's lock is one.
extension OwnedLock: @unchecked Sendable {}
#endif
