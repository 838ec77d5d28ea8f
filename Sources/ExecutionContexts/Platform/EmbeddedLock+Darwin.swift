#if canImport(Darwin)
internal import CPlatform
internal import Synchronization

/// A lock inside the object that it guards, for objects that are made by the thousand.
///
/// The operating system's lock needs an address of its own, and `Mutex` is what keeps one in an
/// object. It is not re-entrant, and nothing of a user's may run under it (law 9).
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
        guard let thread = unsafe ec_thread_current(), let simulation = unsafe Seam.simulation(of: thread)
        else {
            return false
        }
        // The address of a `Mutex` never changes, so a pointer to it identifies the lock.
        unsafe withUnsafePointer(to: mutex) { address in
            unsafe simulation.willTouch(address)
            while !mutex._unsafeTryLock() { unsafe simulation.willSpin(address) }
        }
        return true
    }
}
#endif
