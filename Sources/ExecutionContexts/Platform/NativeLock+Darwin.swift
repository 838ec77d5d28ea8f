#if canImport(Darwin)
internal import CPlatform
import os

/// The lock that the operating system offers for a few instructions of exclusion.
///
/// It knows its owner, so a thread of low priority that holds it is lifted by one of high priority that
/// waits.
enum NativeLock {
    typealias Storage = os_unfair_lock_s
    static let layout = (size: MemoryLayout<Storage>.size, alignment: MemoryLayout<Storage>.alignment)

    static func create(at storage: UnsafeMutablePointer<Storage>) {
        unsafe storage.initialize(to: Storage())
    }

    @inline(__always)
    static func lock(_ storage: UnsafeMutablePointer<Storage>) {
        if unsafe ec_mode() & UInt32(EC_MODE_SIMULATED) != 0, unsafe lockInTurn(storage) { return }
        unsafe os_unfair_lock_lock(storage)
    }

    @inline(__always)
    static func unlock(_ storage: UnsafeMutablePointer<Storage>) {
        unsafe os_unfair_lock_unlock(storage)
    }

    /// Takes the lock for a thread of a simulation; false for any other.
    @inline(never)
    private static func lockInTurn(_ storage: UnsafeMutablePointer<Storage>) -> Bool {
        // Whose thread it is that holds it the system does not tell.
        unsafe Seam.lock(
            storage, try: { unsafe os_unfair_lock_trylock(storage) }, isHeldInTurn: { false })
    }

    static func destroy(_ storage: UnsafeMutablePointer<Storage>) {
        unsafe storage.deinitialize(count: 1)
    }
}
#endif
