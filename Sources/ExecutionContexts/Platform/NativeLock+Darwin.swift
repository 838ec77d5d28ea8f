#if canImport(Darwin)
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
        unsafe os_unfair_lock_lock(storage)
    }

    @inline(__always)
    static func unlock(_ storage: UnsafeMutablePointer<Storage>) {
        unsafe os_unfair_lock_unlock(storage)
    }

    static func destroy(_ storage: UnsafeMutablePointer<Storage>) {
        unsafe storage.deinitialize(count: 1)
    }
}
#endif
