#if canImport(Darwin)
internal import CPlatform
internal import Synchronization
internal import os

/// A lock for a few instructions of exclusion: the operating system's lock, followed by a mark.
///
/// The system's lock knows its owner: it raises an owner of low priority while a thread of high
/// priority waits.
enum NativeLock {
    typealias Storage = os_unfair_lock_s
    static let layout = (
        size: MemoryLayout<Storage>.size + MemoryLayout<Mark>.size,
        alignment: max(MemoryLayout<Storage>.alignment, MemoryLayout<Mark>.alignment)
    )

    /// The number of the owner's search while a simulated thread owns the lock, or zero.
    private typealias Mark = Atomic<UInt32>

    static func create(at storage: UnsafeMutablePointer<Storage>) {
        unsafe storage.initialize(to: Storage())
        let behind = unsafe UnsafeMutableRawPointer(storage + 1)
        unsafe behind.bindMemory(to: Mark.self, capacity: 1).initialize(to: Mark(0))
    }

    @inline(__always)
    static func lock(_ storage: UnsafeMutablePointer<Storage>) {
        if ec_mode() & UInt32(EC_MODE_SIMULATED) != 0, unsafe lockSimulated(storage) { return }
        unsafe lockUnscheduled(storage)
    }

    /// Takes the lock without a scheduling point, for locks whose owners reach none either.
    @inline(__always)
    static func lockUnscheduled(_ storage: UnsafeMutablePointer<Storage>) {
        unsafe os_unfair_lock_lock(storage)
    }

    @inline(__always)
    static func unlock(_ storage: UnsafeMutablePointer<Storage>) {
        let mark = unsafe mark(behind: storage)
        // Relaxed: only the lock owner writes the mark. The simulation may have ended since the
        // lock was taken.
        if unsafe mark.pointee.load(ordering: .relaxed) != 0 {
            unsafe mark.pointee.store(0, ordering: .relaxed)
        }
        unsafe os_unfair_lock_unlock(storage)
    }

    /// Takes the lock for a simulated thread; false for any other thread.
    @inline(never)
    private static func lockSimulated(_ storage: UnsafeMutablePointer<Storage>) -> Bool {
        // Relaxed: the lock owner alone writes the mark. An owner of the caller's search does not
        // run meanwhile, and no other matters.
        let mark = unsafe mark(behind: storage)
        return unsafe SimulationHooks.lock(
            storage,
            try: { search in
                guard unsafe os_unfair_lock_trylock(storage) else { return false }
                unsafe mark.pointee.store(search, ordering: .relaxed)
                return true
            },
            isOwned: { search in unsafe mark.pointee.load(ordering: .relaxed) == search },
            wait: { search in
                unsafe lockUnscheduled(storage)
                unsafe mark.pointee.store(search, ordering: .relaxed)
            })
    }

    @inline(__always)
    private static func mark(behind storage: UnsafeMutablePointer<Storage>) -> UnsafeMutablePointer<
        Mark
    > {
        unsafe UnsafeMutableRawPointer(storage + 1).assumingMemoryBound(to: Mark.self)
    }

    static func destroy(_ storage: UnsafeMutablePointer<Storage>) {
        unsafe mark(behind: storage).deinitialize(count: 1)
        unsafe storage.deinitialize(count: 1)
    }
}

/// A lock inside the object that it guards, for objects that exist by the thousand.
///
/// The operating system's lock needs a stable address, and `Mutex` provides one inside an object.
/// The lock is not re-entrant, and no user code may run under it (law 9).
struct EmbeddedLock: ~Copyable, Sendable {
    private let mutex = Mutex<Void>(())

    @inline(__always)
    borrowing func lock() {
        if ec_mode() & UInt32(EC_MODE_SIMULATED) != 0, lockSimulated() { return }
        mutex._unsafeLock()
    }

    @inline(__always)
    borrowing func unlock() { mutex._unsafeUnlock() }

    /// Takes the lock for a simulated thread, with the scheduling points that it has on every
    /// system; false for any other thread.
    @inline(never)
    private borrowing func lockSimulated() -> Bool {
        guard let simulation = SimulationHooks.current else { return false }
        // The address of a `Mutex` never changes, so a pointer to it identifies the lock.
        unsafe withUnsafePointer(to: mutex) { address in
            unsafe simulation.willTouch(address)
            while !mutex._unsafeTryLock() { unsafe simulation.willSpin(address) }
        }
        return true
    }
}

/// The owner's number stands beside the system's lock, which raises an owner of low priority while
/// a thread of high priority waits.
///
/// The system's lock has no wait with a time limit: a thread with a limit joins the wait queue, and
/// a release wakes it to try again. A simulated thread waits there too, with the scheduling points
/// that it has on every system. The members are those of Linux.
extension OwnedLock {
    static var handsOver: Bool { false }

    /// The memory of the words, with the system's lock behind them.
    static func allocate() -> UnsafeMutableRawPointer {
        // Cache lines of its own, because unrelated threads that share one slow each other down.
        let memory = UnsafeMutableRawPointer.allocate(byteCount: 128, alignment: 128)
        unsafe (memory + 2 * MemoryLayout<UInt32>.size)
            .bindMemory(to: os_unfair_lock_s.self, capacity: 1).initialize(to: os_unfair_lock_s())
        return unsafe memory
    }

    private var native: UnsafeMutablePointer<os_unfair_lock_s> {
        unsafe UnsafeMutableRawPointer(owner + 2).assumingMemoryBound(to: os_unfair_lock_s.self)
    }

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

    borrowing func tryEnterAnnounced(_ thread: ThreadRecord) -> Bool { unsafe tryEnter(thread) }

    borrowing func publish(_ summary: UInt32) {
        // An exchange: see `leave`.
        _ = unsafe waiters.pointee.exchange(summary, ordering: .sequentiallyConsistent)
    }

    @usableFromInline @inline(never)
    borrowing func wait(_ thread: ThreadRecord, until deadline: Int64) -> Bool {
        if deadline == .min { return false }
        if unsafe deadline != .max || thread.pointee.simulation != nil {
            return unsafe waitInQueue(thread, until: deadline)
        }
        // Notifies the thread's owner that it blocks, as every wait of the library does.
        BlockingScope.waiting { unsafe os_unfair_lock_lock(native) }
        // Relaxed, as above.
        unsafe owner.pointee.store(thread.pointee.identifier, ordering: .relaxed)
        return true
    }
}
#endif
