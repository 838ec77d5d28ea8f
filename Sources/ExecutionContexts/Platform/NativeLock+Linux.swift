#if os(Linux) || os(Android)
internal import CPlatform
internal import Synchronization

/// A lock for a few instructions of exclusion: one word, which sleepers wait on.
///
/// Not `Synchronization.Mutex`: on the present Linux toolchain its futexes are invisible to the thread
/// sanitizer, which then reports races in correct code. Not `pthread_mutex_t`: it is ten times as large, and
/// its two calls were half of the time that 1,000 serial views in turn took.
enum NativeLock {
    typealias Storage = Atomic<UInt32>
    static let layout = (size: MemoryLayout<Storage>.size, alignment: MemoryLayout<Storage>.alignment)

    private static let free: UInt32 = 0
    private static let held: UInt32 = 1
    /// Held, and somebody sleeps or is about to: whoever unlocks must wake one.
    private static let contended: UInt32 = 2

    /// Held by a thread of a simulation, which goes on only when it gets the turn.
    private static let heldInTurn: UInt32 = 3

    static func create(at storage: UnsafeMutablePointer<Storage>) {
        unsafe storage.initialize(to: Storage(free))
    }

    @inline(__always)
    static func lock(_ storage: UnsafeMutablePointer<Storage>) {
        if ec_mode() & UInt32(EC_MODE_SIMULATED) != 0, unsafe lockInTurn(storage) { return }
        unsafe lockAside(storage)
    }

    /// Takes the lock with no scheduling point, where its holders come to none either.
    @inline(__always)
    static func lockAside(_ storage: UnsafeMutablePointer<Storage>) {
        if unsafe !take(storage, as: held) { unsafe wait(storage) }
    }

    @inline(__always)
    private static func take(_ storage: UnsafeMutablePointer<Storage>, as mark: UInt32) -> Bool {
        // Acquiring: what the last holder wrote is seen.
        unsafe storage.pointee.compareExchange(
            expected: free, desired: mark, successOrdering: .acquiring, failureOrdering: .relaxed
        ).exchanged
    }

    @inline(__always)
    static func unlock(_ storage: UnsafeMutablePointer<Storage>) {
        // Releasing, for the next holder; an exchange, since a retain may sink below a mere store.
        let before = unsafe storage.pointee.exchange(free, ordering: .releasing)
        if before == contended { unsafe ec_wake_one(storage) }
    }

    /// Waits for a lock that is held: a moment on the spot, since what it guards takes less time than going to
    /// sleep, then asleep.
    ///
    /// Many short looks, not few long ones: the lock is free for an instant at a time, and a thread that goes to
    /// sleep over it costs its waker a call to the system.
    @inline(never)
    private static func wait(_ storage: UnsafeMutablePointer<Storage>) {
        for _ in 0..<60 {
            ec_relax()
            ec_relax()
            // Relaxed looks first, so that waiting does not take the line from the holder.
            if unsafe storage.pointee.load(ordering: .relaxed) == free, unsafe take(storage, as: held) {
                return
            }
        }
        // From here on the word says contended, also when this thread gets it: others may sleep still.
        while unsafe storage.pointee.exchange(contended, ordering: .acquiring) != free {
            unsafe ec_wait(storage, contended, .max)
        }
    }

    /// Takes the lock for a thread of a simulation; false for any other.
    @inline(never)
    private static func lockInTurn(_ storage: UnsafeMutablePointer<Storage>) -> Bool {
        unsafe Seam.lock(
            storage, try: { unsafe take(storage, as: heldInTurn) },
            // Relaxed: who holds it does not go on meanwhile.
            isHeldInTurn: { unsafe storage.pointee.load(ordering: .relaxed) == heldInTurn })
    }

    static func destroy(_ storage: UnsafeMutablePointer<Storage>) {
        unsafe storage.deinitialize(count: 1)
    }
}
#endif
