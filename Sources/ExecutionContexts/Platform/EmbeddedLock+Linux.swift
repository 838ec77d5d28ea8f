#if os(Linux) || os(Android)
internal import CPlatform
internal import Synchronization

/// A lock of two words inside the object that it guards, for objects that are made by the thousand.
///
/// To release it is a plain store and a look at the waiters' word, half the cost of a lock that is released by an
/// exchange. Who announces itself in that word makes every thread pass a barrier (`ec_barrier`) before it tries once
/// more, so one of the two sees the other. It is not re-entrant, and nothing of a user's may run under it (law 9).
struct EmbeddedLock: ~Copyable, Sendable {
    /// Zero or one; the word that waiters sleep on.
    private let held = Atomic<UInt32>(0)
    /// How many threads sleep or are about to. The system has fewer than 2^22.
    private let waiters = Atomic<UInt32>(0)

    @inline(__always)
    borrowing func lock() {
        if ec_mode() != 0 { prepare() }
        if !take() { wait() }
    }

    @inline(__always)
    private borrowing func take() -> Bool {
        // Acquiring: what the last holder wrote is seen.
        held.compareExchange(
            expected: 0, desired: 1, successOrdering: .acquiring, failureOrdering: .relaxed
        ).exchanged
    }

    @inline(__always)
    borrowing func unlock() {
        let mode = ec_mode()
        // The fences keep the compiler from moving a retain below the store, and the look above it.
        ec_compiler_fence()
        if mode == 0 {
            // Releasing, for the next holder.
            held.store(0, ordering: .releasing)
            ec_compiler_fence()
        } else {
            // Where the waiter cannot make this thread pass a barrier, it passes its own.
            _ = held.exchange(0, ordering: .sequentiallyConsistent)
        }
        if waiters.load(ordering: .sequentiallyConsistent) != 0 { wakeOne() }
    }

    /// Waits for a lock that is held: a moment on the spot, since what it guards takes less time than going to
    /// sleep, then asleep.
    @inline(never)
    private borrowing func wait() {
        if waitsSimulated() { return }
        for _ in 0..<60 {
            ec_relax()
            ec_relax()
            // Relaxed looks first, so that waiting does not take the line from the holder.
            if held.load(ordering: .relaxed) == 0, take() { return }
        }
        // Sequentially consistent: the announcement stands before the tries that follow.
        waiters.wrappingAdd(1, ordering: .sequentiallyConsistent)
        ec_barrier()
        while true {
            let (isMine, _) = held.compareExchange(
                expected: 0, desired: 1, ordering: .sequentiallyConsistent)
            if isMine { break }
            // The system compares the word before the thread sleeps: a release that came meanwhile ends the wait.
            unsafe withUnsafePointer(to: held) { unsafe ec_wait($0, 1, .max) }
        }
        waiters.wrappingSubtract(1, ordering: .relaxed)
    }

    @inline(never)
    private borrowing func wakeOne() {
        unsafe withUnsafePointer(to: held) { unsafe ec_wake_one($0) }
    }

    // An atomic word has one address for as long as it is, so a pointer to it may stand for it.

    /// Sees to it that the mode is what it will be, and that a simulator hears of the lock.
    @inline(never)
    private borrowing func prepare() {
        ec_prepare()
        if ec_mode() & UInt32(EC_MODE_SIMULATED) != 0 {
            unsafe withUnsafePointer(to: held) { unsafe Seam.willTouch($0) }
        }
    }

    /// Takes the lock under a simulator; false where none is at work.
    private borrowing func waitsSimulated() -> Bool {
        guard let thread = unsafe ec_thread_current(), let simulation = unsafe Seam.simulation(of: thread)
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
