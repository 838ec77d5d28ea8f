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
    /// The system's lock, followed by the mark.
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
#endif
