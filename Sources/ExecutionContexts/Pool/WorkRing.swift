internal import CPlatform
internal import Synchronization

/// The jobs of one worker: the owner appends at the end, any thread takes from the front.
///
/// It is a ring of closures, two words each. A thread that takes a job does so in two steps:
///
/// 1. It reads the words at the front.
/// 2. It advances the front by a compare-and-swap. If that fails, it discards the words.
///
/// The words are read and written atomically for that reason only: discarded words may be half of
/// one closure and half of the next.
@safe package struct WorkRing: ~Copyable {
    // Any thread changes the front, only the owner changes the end: a cache line each.
    private let front = Atomic<UInt32>(0)
    private let padding = CacheLinePadding()
    private let end = Atomic<UInt32>(0)
    private let cells: UnsafeMutablePointer<ec_words>

    package static var capacity: UInt32 { 256 }

    package init() {
        unsafe cells = .allocate(capacity: Int(Self.capacity))
        unsafe cells.initialize(repeating: ec_words(), count: Int(Self.capacity))
    }

    deinit {
        // No other thread has a reference: the queued jobs are dropped.
        while take() != nil {}
        unsafe cells.deallocate()
    }

    /// Out of date at once, except for the owner's own changes.
    package var count: Int {
        // Front first: the end may run ahead meanwhile, but is never behind the front.
        let front = front.load(ordering: .acquiring)
        return Int(Int32(bitPattern: end.load(ordering: .acquiring) &- front))
    }

    /// For the owner: other threads can only make more room.
    @inline(__always)
    package var hasRoom: Bool {
        // Acquiring: a thread that took a job has read its cell. Relaxed: the owner's own.
        end.load(ordering: .relaxed) &- front.load(ordering: .acquiring) < Self.capacity
    }

    /// Appends a job and returns how many are queued; for the owner, if there is room.
    @inline(__always)
    package func append(_ work: consuming @escaping Work) -> UInt32 { append(UnmanagedWork(work)) }

    @inline(__always)
    package func append(_ work: UnmanagedWork) -> UInt32 {
        // Relaxed: the owner's own, and the front only for the returned number.
        let end = end.load(ordering: .relaxed)
        unsafe ec_words_store(cell(end), work.words)
        // Releasing: a thread that sees the new end sees the words. A retain would sink below a
        // mere store, hence the fence.
        ec_compiler_fence()
        self.end.store(end &+ 1, ordering: .releasing)
        return end &+ 1 &- front.load(ordering: .relaxed)
    }

    /// Takes the first job; for the owner.
    @inline(__always)
    // Relaxed: the owner's own.
    package func take() -> Work? { take(before: end.load(ordering: .relaxed)) }

    /// Takes the first job; for any thread.
    package func takeFirst() -> Work? { take(before: end.load(ordering: .acquiring)) }

    @inline(__always)
    private func take(before end: UInt32) -> Work? {
        // Acquiring: see `append`. The front may have passed an end that was read before.
        var first = front.load(ordering: .acquiring)
        while Int32(bitPattern: end &- first) > 0 {
            let words = unsafe ec_words_load(cell(first))
            // Releasing: the words have been read before the cell is given back.
            let advance = front.weakCompareExchange(
                expected: first, desired: first &+ 1, successOrdering: .acquiringAndReleasing,
                failureOrdering: .acquiring)
            if advance.exchanged { return UnmanagedWork(words: words).assembled() }
            first = advance.original
        }
        return nil
    }

    /// Moves all jobs but the last `rest` to the end of a queue; for the owner.
    package func move(to queue: inout WorkQueue, allBut rest: UInt32 = 0) {
        // Relaxed: the owner's own.
        let end = end.load(ordering: .relaxed) &- rest
        // Acquiring: see `append`. Other threads can only advance it.
        var first = front.load(ordering: .acquiring)
        while Int32(bitPattern: end &- first) > 0 {
            let advance = front.weakCompareExchange(
                expected: first, desired: end, successOrdering: .acquiringAndReleasing,
                failureOrdering: .acquiring)
            guard !advance.exchanged else { break }
            first = advance.original
        }
        while Int32(bitPattern: end &- first) > 0 {
            // After the front was advanced: only the owner, which is this thread, writes here.
            let words = unsafe ec_words_load(cell(first))
            queue.append(UnmanagedWork(words: words).assembled())
            first &+= 1
        }
    }

    /// Takes the first half of the jobs and returns the first; the caller's ring gets the others.
    ///
    /// Leaves a single job alone, unless `takesLast`.
    package func steal(into other: borrowing WorkRing, takesLast: Bool) -> Work? {
        var first = front.load(ordering: .acquiring)
        while true {
            let waiting = end.load(ordering: .acquiring) &- first
            let share = waiting &- waiting / 2
            // More than the ring can hold: the front has moved since it was read.
            if share > Self.capacity / 2 {
                first = front.load(ordering: .acquiring)
                continue
            }
            if share == 0 || waiting == 1 && !takesLast { return nil }
            // The caller's own ring is empty, so it has room for half of any other.
            let start = other.end.load(ordering: .relaxed)
            let words = unsafe ec_words_load(cell(first))
            for index in 1..<share {
                unsafe ec_words_store(
                    other.cell(start &+ index &- 1), ec_words_load(cell(first &+ index)))
            }
            let advance = front.compareExchange(
                expected: first, desired: first &+ share, successOrdering: .acquiringAndReleasing,
                failureOrdering: .acquiring)
            if advance.exchanged {
                // Releasing, as in `append`.
                other.end.store(start &+ share &- 1, ordering: .releasing)
                return UnmanagedWork(words: words).assembled()
            }
            first = advance.original
        }
    }

    private func cell(_ position: UInt32) -> UnsafeMutablePointer<ec_words> {
        unsafe cells + Int(position % Self.capacity)
    }
}
