#if canImport(Darwin)
internal import CPlatform
public import Synchronization
public import os

/// A lock that knows which thread holds it.
///
/// The system's lock, so that a thread of low priority that holds it is lifted by one of high priority that waits,
/// and a word with the holder's number. The system's lock cannot be waited for with a limit: who does so stands
/// in a line, and is woken by a release to try again. A thread under a simulator waits there too.
@safe @usableFromInline
struct OwnedLock: ~Copyable {
    /// Zero, or the number of the thread that holds the lock.
    @usableFromInline let owner: UnsafeMutablePointer<Atomic<UInt32>>
    /// How many stand in the line.
    private let waiters: UnsafeMutablePointer<Atomic<UInt32>>
    private let native: UnsafeMutablePointer<os_unfair_lock_s>
    private let line = Guarded(WaitLine())

    init() {
        let memory = UnsafeMutableRawPointer.allocate(byteCount: 128, alignment: 128)
        unsafe owner = memory.bindMemory(to: Atomic<UInt32>.self, capacity: 2)
        unsafe waiters = owner + 1
        unsafe native = (memory + 8).bindMemory(to: os_unfair_lock_s.self, capacity: 1)
        unsafe owner.initialize(to: Atomic(0))
        unsafe waiters.initialize(to: Atomic(0))
        unsafe native.initialize(to: os_unfair_lock_s())
    }

    deinit { unsafe UnsafeMutableRawPointer(owner).deallocate() }

    /// The number of the thread that holds the lock now, or zero.
    var holder: UInt32 { unsafe owner.pointee.load(ordering: .relaxed) }

    @inlinable @inline(__always)
    borrowing func isHeld(by thread: ThreadRecord) -> Bool {
        // Relaxed: the thread's own number is there only if this thread has put it there.
        unsafe owner.pointee.load(ordering: .relaxed) == thread.pointee.identifier
    }

    /// Takes the lock for a thread that does not hold it, if it is free.
    @usableFromInline
    borrowing func tryEnter(_ thread: ThreadRecord) -> Bool {
        unsafe Seam.attempt(owner, mode: ec_mode())
        guard unsafe os_unfair_lock_trylock(native) else { return false }
        // Relaxed: the system's lock orders what the holders do.
        unsafe owner.pointee.store(thread.pointee.identifier, ordering: .relaxed)
        return true
    }

    /// Waits for the lock and takes it; false if `deadline` came first.
    @usableFromInline
    borrowing func wait(_ thread: ThreadRecord, until deadline: Int64) -> Bool {
        if deadline == .min { return false }
        guard unsafe deadline == .max && thread.pointee.simulation == nil else {
            return unsafe waitInLine(thread, until: deadline)
        }
        unsafe os_unfair_lock_lock(native)
        // Relaxed, as above.
        unsafe owner.pointee.store(thread.pointee.identifier, ordering: .relaxed)
        return true
    }

    @usableFromInline
    borrowing func leave(_ thread: ThreadRecord) {
        unsafe owner.pointee.store(0, ordering: .relaxed)
        unsafe Seam.point(owner, mode: ec_mode())
        unsafe os_unfair_lock_unlock(native)
        // A read-modify-write, sequentially consistent: it does not pass the release, so that either this sees who
        // announced itself, or that one finds the lock free.
        if unsafe waiters.pointee.bitwiseOr(0, ordering: .sequentiallyConsistent).oldValue != 0 {
            unsafe line.withLock { unsafe $0.first?.pointee.parker }?.unpark(by: thread)
        }
    }

    private borrowing func waitInLine(_ thread: ThreadRecord, until deadline: Int64) -> Bool {
        var waiter = unsafe Waiter(thread, .exclusive)
        return unsafe withUnsafeMutablePointer(to: &waiter) { waiter in
            unsafe line.withLock { unsafe $0.append(waiter) }
            // Sequentially consistent: the announcement stands before the next try.
            unsafe waiters.pointee.add(1, ordering: .sequentiallyConsistent)
            var isIn = unsafe tryEnter(thread)
            while unsafe !isIn && Seam.now(thread) < deadline {
                unsafe waiter.pointee.parker.park(until: deadline)
                isIn = unsafe tryEnter(thread)
            }
            unsafe waiters.pointee.subtract(1, ordering: .sequentiallyConsistent)
            // A wake-up that came too late for this one is for the next.
            let next = unsafe line.withLock { line in
                unsafe line.remove(waiter)
                return unsafe isIn ? nil : line.first?.pointee.parker
            }
            unsafe next?.unpark(by: thread)
            return isIn
        }
    }
}

// Unchecked: its words are atomic, the line has its lock, the system's lock is one.
extension OwnedLock: @unchecked Sendable {}
#endif
