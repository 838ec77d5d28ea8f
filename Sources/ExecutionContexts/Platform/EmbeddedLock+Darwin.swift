#if canImport(Darwin)
internal import CPlatform
internal import Synchronization

/// A lock inside the object that it guards, for objects that are made by the thousand.
///
/// The operating system's lock needs an address of its own, and here that is what keeps one in an object.
struct EmbeddedLock: ~Copyable, Sendable {
    private let mutex = Mutex<Void>(())

    @inline(__always)
    borrowing func lock() {
        if ec_mode() & UInt32(EC_MODE_SIMULATED) != 0, waits() { return }
        unsafe mutex._unsafeLock()
    }

    @inline(__always)
    borrowing func unlock() { unsafe mutex._unsafeUnlock() }

    /// Takes the lock under a simulator; false where none is at work.
    @inline(never)
    private borrowing func waits() -> Bool {
        unsafe withUnsafePointer(to: mutex) { address in
            unsafe Seam.wait(UnsafeRawPointer(address), until: { unsafe mutex._unsafeTryLock() })
        }
    }
}
#endif
