#if os(Linux) || os(Android)
public import CPlatform
public import Synchronization

/// A lock that knows which thread holds it.
///
/// Two words. To take the lock is a compare-and-swap of the owner's word. To release it is a plain store and a
/// look at the waiters' word: who announces itself there makes every thread pass a barrier (`ec_barrier`)
/// before it tries once more, so one of the two sees the other. Where the system has no such call, the release
/// is an exchange. A thread that arrives may overtake the waiters, which keeps the lock busy. The first waiter gets the
/// lock handed over when it has been overtaken for a millisecond, and when the last hand-over is as long ago.
@safe @usableFromInline
struct OwnedLock: ~Copyable {
    @usableFromInline typealias Word = UnsafeMutablePointer<Atomic<UInt32>>

    /// Zero, or the number of the thread that holds the lock.
    @usableFromInline let owner: Word
    /// Zero, or what whoever releases the lock must know: see `Line.summary`.
    @usableFromInline let waiters: Word
    private let line = Guarded(Line())

    private struct Line: ~Copyable {
        var waiting = WaitLine()
        /// Whether one was woken and has not come yet: no other needs to be.
        var isWakePending = false
        /// Whether the next release is to hand the lock over.
        var isFirstStarving = false
        var lastHandOver: Int64 = 0

        var summary: UInt32 {
            waiting.count << 2 | (isFirstStarving ? starving : 0) | (isWakePending ? wakePending : 0)
        }

        /// Wakes the first, unless one is on its way.
        mutating func wakeFirst() -> Parker? {
            guard !isWakePending, let first = unsafe waiting.first else { return nil }
            unsafe first.pointee.isWoken = true
            isWakePending = true
            return unsafe first.pointee.parker
        }

        mutating func remove(_ waiter: UnsafeMutablePointer<Waiter>) {
            if unsafe waiter.pointee.isWoken { isWakePending = false }
            // One further back that gives up takes nothing from the first.
            if unsafe waiter == waiting.first { isFirstStarving = false }
            unsafe waiting.remove(waiter)
        }

        /// One that was woken has been overtaken, and goes back to sleep.
        mutating func reconsider(_ waiter: UnsafeMutablePointer<Waiter>, now: Int64) {
            unsafe waiter.pointee.isWoken = false
            isWakePending = false
            // Not each that waits long, but one in a while: handing over costs a change of threads.
            isFirstStarving = unsafe now - max(waiter.pointee.since, lastHandOver) > patience
        }
    }

    @usableFromInline static var wakePending: UInt32 { 1 }
    @usableFromInline static var starving: UInt32 { 2 }
    /// How long a waiter may be overtaken, in nanoseconds.
    private static var patience: Int64 { 1_000_000 }

    init() {
        // A line of memory for itself: neighbours would make strangers wait for each other.
        let memory = UnsafeMutableRawPointer.allocate(byteCount: 64, alignment: 64)
        unsafe owner = memory.bindMemory(to: Atomic<UInt32>.self, capacity: 2)
        unsafe waiters = owner + 1
        unsafe owner.initialize(to: Atomic(0))
        unsafe waiters.initialize(to: Atomic(0))
    }

    deinit {
        unsafe owner.deinitialize(count: 2)
        unsafe owner.deallocate()
    }

    /// The number of the thread that holds the lock now, or zero.
    var holder: UInt32 { unsafe owner.pointee.load(ordering: .relaxed) }

    @inlinable @inline(__always)
    borrowing func isHeld(by thread: ThreadRecord) -> Bool {
        // Relaxed: the thread's own number is there only if this thread has put it there, or seen it handed over.
        unsafe owner.pointee.load(ordering: .relaxed) == thread.pointee.identifier
    }

    /// Takes the lock for a thread that does not hold it, if it is free.
    @inlinable @inline(__always)
    borrowing func tryEnter(_ thread: ThreadRecord) -> Bool {
        unsafe Seam.attempt(owner, mode: ec_mode())
        // Acquiring: what the last holder did is seen.
        return unsafe owner.pointee.compareExchange(
            expected: 0, desired: thread.pointee.identifier,
            successOrdering: .acquiring, failureOrdering: .relaxed
        ).exchanged
    }

    @inlinable @inline(__always)
    borrowing func leave(_ thread: ThreadRecord) {
        let mode = ec_mode()
        // Relaxed: sooner or later it is seen.
        if unsafe waiters.pointee.load(ordering: .relaxed) & Self.starving != 0, unsafe handOver(thread) {
            return
        }
        unsafe Seam.publish(0, in: owner, mode: mode)
        unsafe Seam.point(waiters, mode: mode)
        // Sequentially consistent for the portable mode, where this must not pass the exchange.
        let waiting = unsafe waiters.pointee.load(ordering: .sequentiallyConsistent)
        if waiting != 0 && waiting & Self.wakePending == 0 { unsafe wakeFirst(thread) }
    }

    /// Takes the lock after an announcement in the waiters' word.
    private borrowing func tryEnterAnnounced(_ thread: ThreadRecord) -> Bool {
        unsafe Seam.attempt(owner, mode: ec_mode())
        // Sequentially consistent: in the portable mode it must not pass the announcement.
        return unsafe owner.pointee.compareExchange(
            expected: 0, desired: thread.pointee.identifier, ordering: .sequentiallyConsistent
        ).exchanged
    }

    /// Waits for the lock and takes it; false if `deadline` came first.
    @usableFromInline @inline(never)
    borrowing func wait(_ thread: ThreadRecord, until deadline: Int64) -> Bool {
        if deadline == .min { return false }
        if unsafe spin(thread) { return true }
        var waiter = unsafe Waiter(thread, .exclusive)
        return unsafe withUnsafeMutablePointer(to: &waiter) { unsafe wait($0, until: deadline) }
    }

    /// Waits on the spot for a moment: most sections are short, and going to sleep is long.
    ///
    /// It looks seldom, so that the holder has the line of memory to itself and may come back a few times: two that
    /// take the lock in turn have it travel between their processors each time, which costs more than the section.
    private borrowing func spin(_ thread: ThreadRecord) -> Bool {
        if unsafe thread.pointee.simulation != nil { return false }
        for _ in 0..<8 {
            for _ in 0..<32 { ec_relax() }
            // Relaxed: only who finds it free tries to take it.
            if unsafe owner.pointee.load(ordering: .relaxed) == 0, unsafe tryEnter(thread) { return true }
        }
        return false
    }

    private borrowing func wait(_ waiter: UnsafeMutablePointer<Waiter>, until deadline: Int64) -> Bool {
        let thread = unsafe waiter.pointee.thread
        change { unsafe $0.waiting.append(waiter) }
        ec_barrier()
        while true {
            if unsafe tryEnterAnnounced(thread) {
                change { unsafe $0.remove(waiter) }
                return true
            }
            unsafe waiter.pointee.parker.park(until: deadline)
            let now = unsafe Seam.now(thread)
            var wasWoken = false
            var next: Parker?
            let outcome: Bool? = change { line in
                if unsafe waiter.pointee.isIn { return true }
                wasWoken = unsafe waiter.pointee.isWoken
                if now >= deadline {
                    unsafe line.remove(waiter)
                    // The wake-up was for whoever waits.
                    if wasWoken { next = line.wakeFirst() }
                    return false
                }
                if wasWoken { unsafe line.reconsider(waiter, now: now) }
                return nil
            }
            if let next { unsafe next.unpark(by: thread) }
            if let outcome { return outcome }
            // While its wake-up was pending, releases woke nobody.
            if wasWoken { ec_barrier() }
        }
    }

    @usableFromInline @inline(never)
    borrowing func wakeFirst(_ thread: ThreadRecord) {
        unsafe change { $0.wakeFirst() }?.unpark(by: thread)
    }

    /// Makes the first who waits the holder; false if nobody waits.
    @usableFromInline @inline(never)
    borrowing func handOver(_ thread: ThreadRecord) -> Bool {
        let now = unsafe Seam.now(thread)
        let heir: Parker? = change { line in
            guard let first = unsafe line.waiting.first else { return nil }
            unsafe line.remove(first)
            line.lastHandOver = now
            unsafe first.pointee.isIn = true
            // Releasing, by an exchange: a retain may sink below a mere store.
            _ = unsafe owner.pointee.exchange(
                ec_thread_identifier(first.pointee.thread), ordering: .acquiringAndReleasing)
            return unsafe first.pointee.parker
        }
        if heir != nil { unsafe Seam.handedOver(owner) }
        unsafe heir?.unpark(by: thread)
        return heir != nil
    }

    /// Changes the line and says so to those who release the lock.
    ///
    /// The result is a value of the library's; nothing of a user's is called or freed here (law 9).
    private borrowing func change<Result>(_ body: (inout Line) -> Result) -> Result {
        unsafe Seam.point(waiters, mode: ec_mode())
        return line.withLock { line in
            let before = line.summary
            let result = body(&line)
            // Sequentially consistent: an announcement stands before the look at the owner that follows it.
            if line.summary != before {
                unsafe waiters.pointee.store(line.summary, ordering: .sequentiallyConsistent)
            }
            return result
        }
    }
}

// Unchecked: its words are atomic, the line has its lock.
extension OwnedLock: @unchecked Sendable {}
#endif
