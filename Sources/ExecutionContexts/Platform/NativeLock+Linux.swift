#if os(Linux) || os(Android)
internal import CPlatform
internal import Synchronization

/// A lock for a few instructions of exclusion: one word, on which waiters sleep.
///
/// | bits of the word | meaning                                                             |
/// |------------------|---------------------------------------------------------------------|
/// | none             | the lock is free                                                    |
/// | `held`           | the lock is held                                                    |
/// | `contended`      | a thread may sleep, or be about to: unlocking wakes one             |
/// | those above      | the number of the owner's search, if a simulated thread owns it     |
///
/// Not `Synchronization.Mutex`: on the present Linux toolchain its futexes are invisible to the
/// thread sanitizer, which then reports races in correct code. Not `pthread_mutex_t`: it is ten
/// times as large, and its waiters go to sleep too soon.
enum NativeLock {
    typealias Storage = Atomic<UInt32>
    static let layout = (
        size: MemoryLayout<Storage>.size, alignment: MemoryLayout<Storage>.alignment
    )

    private static let free: UInt32 = 0
    private static let held: UInt32 = 1
    private static let contended: UInt32 = 2
    /// The bits above, for an owner of the search with this number.
    private static func mark(_ search: UInt32) -> UInt32 { search << 2 }

    static func create(at storage: UnsafeMutablePointer<Storage>) {
        unsafe storage.initialize(to: Storage(free))
    }

    @inline(__always)
    static func lock(_ storage: UnsafeMutablePointer<Storage>) {
        if ec_mode() & UInt32(EC_MODE_SIMULATED) != 0, unsafe lockSimulated(storage) { return }
        unsafe lockUnscheduled(storage)
    }

    /// Takes the lock without a scheduling point, for locks whose owners reach none either.
    @inline(__always)
    static func lockUnscheduled(_ storage: UnsafeMutablePointer<Storage>) {
        if unsafe !take(storage, as: held) { unsafe wait(storage) }
    }

    @inline(__always)
    private static func take(_ storage: UnsafeMutablePointer<Storage>, as mark: UInt32) -> Bool {
        // Acquiring: the caller sees what the last owner wrote.
        unsafe storage.pointee.compareExchange(
            expected: free, desired: mark, successOrdering: .acquiring, failureOrdering: .relaxed
        ).exchanged
    }

    @inline(__always)
    static func unlock(_ storage: UnsafeMutablePointer<Storage>) {
        // Releasing, for the next owner. An exchange, because a retain may sink below a mere store.
        let before = unsafe storage.pointee.exchange(free, ordering: .releasing)
        if before & contended != 0 { unsafe ec_wake_one(storage) }
    }

    /// Waits for a lock that is held: spins first, because the guarded code takes less time than
    /// going to sleep.
    ///
    /// It looks soon at first, since the lock is free for an instant at a time, and a thread that
    /// goes to sleep costs its waker a system call. From look to look it waits longer: each release
    /// moves the cache line to all threads that look, so many of them would delay the lock owner.
    @inline(never)
    private static func wait(_ storage: UnsafeMutablePointer<Storage>) {
        for look in 0..<7 {
            for _ in 0..<(2 << min(look, 4)) { ec_relax() }
            // Relaxed loads first, so that spinning does not take the cache line from the owner.
            if unsafe storage.pointee.load(ordering: .relaxed) == free,
                unsafe take(storage, as: held)
            {
                return
            }
        }
        // From here on the word says contended, even if this thread gets the lock: other threads
        // may still sleep.
        while true {
            let before = unsafe storage.pointee.bitwiseOr(held | contended, ordering: .acquiring)
                .oldValue
            if before & held == 0 { return }
            unsafe ec_wait(storage, before | contended, .max)
        }
    }

    /// Takes the lock for a simulated thread; false for any other thread.
    @inline(never)
    private static func lockSimulated(_ storage: UnsafeMutablePointer<Storage>) -> Bool {
        unsafe SimulationHooks.lock(
            storage,
            try: { search in unsafe take(storage, as: held | mark(search)) },
            // Relaxed: an owner of the caller's search does not run meanwhile, and no other
            // matters.
            isOwned: { search in
                let word = unsafe storage.pointee.load(ordering: .relaxed)
                return word & ~(held | contended) == mark(search)
            },
            wait: { search in
                unsafe lockUnscheduled(storage)
                // Relaxed: the caller owns the lock.
                unsafe storage.pointee.bitwiseOr(mark(search), ordering: .relaxed)
            })
    }

    static func destroy(_ storage: UnsafeMutablePointer<Storage>) {
        unsafe storage.deinitialize(count: 1)
    }
}
#endif
