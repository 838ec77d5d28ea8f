#if os(Linux) || os(Android)
internal import CPlatform
internal import Synchronization

/// A lock of two words inside the object that it guards, for objects that exist by the thousand.
///
/// | unlocking thread           | waiter                                      |
/// |----------------------------|---------------------------------------------|
/// | 1. stores zero in `held`   | 1. announces itself in `waiters`            |
/// | 2. loads `waiters`         | 2. makes every thread pass `ec_barrier`     |
/// | 3. wakes a waiter, if any  | 3. tries once more, and sleeps if it fails  |
///
/// One of the two sees the other. A release by a store costs half as much as one by an exchange.
/// The lock is not re-entrant, and no user code may run under it (law 9).
struct EmbeddedLock: ~Copyable, Sendable {
    /// Zero or one; waiters sleep on this word.
    private let held = Atomic<UInt32>(0)
    /// How many threads sleep or are about to. The system has fewer than 2^22 threads.
    private let waiters = Atomic<UInt32>(0)

    @inline(__always)
    borrowing func lock() {
        if ec_mode() != 0 { prepare() }
        if !take() { wait() }
    }

    @inline(__always)
    private borrowing func take() -> Bool {
        // Acquiring: the caller sees what the last owner wrote.
        held.compareExchange(
            expected: 0, desired: 1, successOrdering: .acquiring, failureOrdering: .relaxed
        ).exchanged
    }

    @inline(__always)
    borrowing func unlock() {
        let mode = ec_mode()
        // The fences keep the compiler from moving a retain below the store, and the load above it.
        ec_compiler_fence()
        if mode == 0 {
            // Releasing, for the next owner.
            held.store(0, ordering: .releasing)
            ec_compiler_fence()
        } else {
            // The waiter cannot make this thread pass a barrier, so this thread passes its own.
            _ = held.exchange(0, ordering: .sequentiallyConsistent)
        }
        if waiters.load(ordering: .sequentiallyConsistent) != 0 { wakeOne() }
    }

    /// Waits for a lock that is held: spins first, because the guarded code takes less time than
    /// going to sleep.
    @inline(never)
    private borrowing func wait() {
        if waitsSimulated() { return }
        for _ in 0..<60 {
            ec_relax()
            ec_relax()
            // Relaxed loads first, so that spinning does not take the cache line from the owner.
            if held.load(ordering: .relaxed) == 0, take() { return }
        }
        // Sequentially consistent: the announcement precedes the tries that follow.
        waiters.wrappingAdd(1, ordering: .sequentiallyConsistent)
        ec_barrier()
        while true {
            let (isMine, _) = held.compareExchange(
                expected: 0, desired: 1, ordering: .sequentiallyConsistent)
            if isMine { break }
            // The system compares the word before the thread sleeps, so a release in between ends
            // the wait.
            unsafe withUnsafePointer(to: held) { unsafe ec_wait($0, 1, .max) }
        }
        waiters.wrappingSubtract(1, ordering: .relaxed)
    }

    @inline(never)
    private borrowing func wakeOne() {
        unsafe withUnsafePointer(to: held) { unsafe ec_wake_one($0) }
    }

    // An atomic word has one address for its whole lifetime, so a pointer to it identifies the
    // lock.

    /// Makes sure that the mode is final, and that a simulation learns of the lock.
    @inline(never)
    private borrowing func prepare() {
        ec_prepare()
        if ec_mode() & UInt32(EC_MODE_SIMULATED) != 0 {
            unsafe withUnsafePointer(to: held) { unsafe SimulationHooks.willTouch($0) }
        }
    }

    /// Takes the lock for a simulated thread; false for any other thread.
    private borrowing func waitsSimulated() -> Bool {
        guard let thread = unsafe ec_thread_current(),
            let simulation = unsafe SimulationHooks.simulation(of: thread)
        else {
            return false
        }
        repeat {
            unsafe withUnsafePointer(to: held) { unsafe simulation.willSpin($0) }
        } while !take()
        return true
    }
}
#endif
