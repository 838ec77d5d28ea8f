#if canImport(Darwin)
internal import CPlatform
internal import Synchronization

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
        guard let thread = unsafe ec_thread_current(),
            let simulation = unsafe SimulationHooks.simulation(of: thread)
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
