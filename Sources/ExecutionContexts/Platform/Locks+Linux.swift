#if os(Linux) || os(Android)
public import CPlatform
public import Synchronization

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

    /// Waits for a lock that is held: spins first, for the same reason as `NativeLock`.
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

    // An atomic word never moves, so a pointer to it identifies the lock.

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
        guard let simulation = SimulationHooks.current else { return false }
        repeat {
            unsafe withUnsafePointer(to: held) { unsafe simulation.willSpin($0) }
        } while !take()
        return true
    }
}

/// Two words make the owner and a waiter see each other, and the release needs no barrier.
///
/// | owner                                    | waiter                                           |
/// |------------------------------------------|--------------------------------------------------|
/// | 1. enters: compare-and-swap of `owner`   | 1. announces itself in `waiters`                 |
/// | 2. leaves: plain store of zero           | 2. makes every thread pass `ec_barrier`          |
/// | 3. loads `waiters`, and wakes the first  | 3. tries once more, and parks if it fails        |
///
/// One of the two sees the other. Where the system has no barrier, the release is an exchange. A
/// release hands the lock over to the first waiter, if that has been overtaken for a millisecond
/// and the last hand-over is as long ago.
extension OwnedLock {
    /// Whether a release may make a waiter the owner.
    static var handsOver: Bool { true }

    /// The memory of the words.
    static func allocate() -> UnsafeMutableRawPointer {
        // A cache line of its own, because unrelated threads that share one slow each other down.
        UnsafeMutableRawPointer.allocate(byteCount: 64, alignment: 64)
    }

    /// Takes the lock, if it is free, for a thread that does not own it.
    @inlinable @inline(__always)
    borrowing func tryEnter(_ thread: ThreadRecord, waits: Bool = false) -> Bool {
        unsafe SimulationHooks.attempt(owner, waits: waits, mode: ec_mode())
        // Acquiring: the caller sees what the last owner did.
        return unsafe owner.pointee.compareExchange(
            expected: 0, desired: thread.pointee.identifier,
            successOrdering: .acquiring, failureOrdering: .relaxed
        ).exchanged
    }

    @inlinable @inline(__always)
    borrowing func leave(_ thread: ThreadRecord) {
        let mode = ec_mode()
        // Relaxed: the flag is seen sooner or later.
        if unsafe waiters.pointee.load(ordering: .relaxed) & Self.starving != 0,
            unsafe handOver(thread)
        {
            return
        }
        unsafe SimulationHooks.publish(0, in: owner, mode: mode)
        unsafe SimulationHooks.pointToRead(waiters, mode: mode)
        // Sequentially consistent for the portable mode, where the load must not pass the exchange.
        let waiting = unsafe waiters.pointee.load(ordering: .sequentiallyConsistent)
        if waiting != 0 && waiting & Self.wakePending == 0 { unsafe wakeFirst(thread) }
    }

    /// Takes the lock after an announcement in `waiters`.
    borrowing func tryEnterAnnounced(_ thread: ThreadRecord) -> Bool {
        unsafe SimulationHooks.attempt(owner, waits: false, mode: ec_mode())
        // Sequentially consistent: in portable mode the try must not pass the announcement.
        return unsafe owner.pointee.compareExchange(
            expected: 0, desired: thread.pointee.identifier, ordering: .sequentiallyConsistent
        ).exchanged
    }

    /// Publishes a summary of the wait queue.
    borrowing func publish(_ summary: UInt32) {
        // Sequentially consistent: an announcement precedes the check of the owner that follows it.
        unsafe waiters.pointee.store(summary, ordering: .sequentiallyConsistent)
    }

    /// Waits for the lock and takes it; false if `deadline` passed first.
    @usableFromInline @inline(never)
    borrowing func wait(_ thread: ThreadRecord, until deadline: Int64) -> Bool {
        if deadline == .min { return false }
        return unsafe spin(thread) || waitInQueue(thread, until: deadline)
    }

    /// Spins for a moment: most holds are short, and going to sleep takes long.
    ///
    /// It looks seldom, so that the owner keeps the cache line and may take the lock again a few
    /// times. If two threads take the lock alternately, the cache line travels between their
    /// processors each time, which costs more than the hold.
    private borrowing func spin(_ thread: ThreadRecord) -> Bool {
        if unsafe thread.pointee.simulation != nil { return false }
        for _ in 0..<8 {
            for _ in 0..<32 { ec_relax() }
            // Relaxed: only a thread that finds the lock free tries to take it.
            if unsafe owner.pointee.load(ordering: .relaxed) == 0, unsafe tryEnter(thread) {
                return true
            }
        }
        return false
    }
}
#endif
