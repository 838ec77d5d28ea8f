internal import CPlatform
internal import Synchronization

/// Work that one worker has before it, in order: it adds at the end, and everybody takes from the front.
///
/// A ring of closures, two words each. Who takes reads the words first and claims them after, by moving the front; a
/// claim that fails forgets what was read. The words are read and written atomically for that reason only: what was
/// read in vain may be half of one closure and half of the next.
@safe package struct WorkRing: ~Copyable {
    // The front is everybody's, the end only the owner's to change: a line of memory each.
    private let front = Atomic<UInt32>(0)
    private let padding: (Int, Int, Int, Int, Int, Int, Int) = (0, 0, 0, 0, 0, 0, 0)
    private let end = Atomic<UInt32>(0)
    private let slots: UnsafeMutablePointer<ec_words>

    package static var capacity: UInt32 { 256 }

    package init() {
        unsafe slots = .allocate(capacity: Int(Self.capacity))
        unsafe slots.initialize(repeating: ec_words(), count: Int(Self.capacity))
    }

    deinit {
        // Nobody else is left: what waits is let go of.
        while take() != nil {}
        unsafe slots.deallocate()
    }

    /// How much waits; for others than the owner it may be out of date at once.
    package var count: Int {
        // Front first: seen from outside the end may run ahead, and never lies behind.
        let front = front.load(ordering: .acquiring)
        return Int(Int32(bitPattern: end.load(ordering: .acquiring) &- front))
    }

    /// Whether there is room for another piece; for the owner, whose room the others only make larger.
    @inline(__always)
    package var hasRoom: Bool {
        // Acquiring: who took what stood in the slot has read it. Relaxed: the owner's own.
        end.load(ordering: .relaxed) &- front.load(ordering: .acquiring) < Self.capacity
    }

    /// Adds a piece, for the owner, who has seen that there is room. Returns how many wait then.
    @inline(__always)
    package func append(_ work: consuming @escaping Work) -> UInt32 { append(LooseWork(work)) }

    @inline(__always)
    package func append(_ work: LooseWork) -> UInt32 {
        // Relaxed: the owner's own; and the front only for the figure.
        let end = end.load(ordering: .relaxed)
        unsafe ec_words_store(slot(end), work.words)
        // Releasing: who sees the new end sees the words. A retain would sink below a mere store, hence the fence.
        ec_compiler_fence()
        self.end.store(end &+ 1, ordering: .releasing)
        return end &+ 1 &- front.load(ordering: .relaxed)
    }

    /// Takes the first piece; for the owner.
    @inline(__always)
    package func take() -> Work? { take(before: end.load(ordering: .relaxed)) }  // Relaxed: the owner's own.

    /// Takes the first piece; for anybody.
    package func takeFirst() -> Work? { take(before: end.load(ordering: .acquiring)) }

    @inline(__always)
    private func take(before end: UInt32) -> Work? {
        // Acquiring: see `append`. The front may have passed an end that was read before.
        var first = front.load(ordering: .acquiring)
        while Int32(bitPattern: end &- first) > 0 {
            let words = unsafe ec_words_load(slot(first))
            // Releasing: the words have been read before the slot is given back.
            let claim = front.weakCompareExchange(
                expected: first, desired: first &+ 1, successOrdering: .acquiringAndReleasing,
                failureOrdering: .acquiring)
            if claim.exchanged { return LooseWork(words: words).assembled() }
            first = claim.original
        }
        return nil
    }

    /// Moves what waits, but for the last `rest` pieces, to the end of a queue; for the owner.
    package func move(to queue: inout WorkQueue, allBut rest: UInt32 = 0) {
        // Relaxed: the owner's own.
        let end = end.load(ordering: .relaxed) &- rest
        // Acquiring: see `append`. The others only move it on.
        var first = front.load(ordering: .acquiring)
        while Int32(bitPattern: end &- first) > 0 {
            let claim = front.weakCompareExchange(
                expected: first, desired: end, successOrdering: .acquiringAndReleasing,
                failureOrdering: .acquiring)
            guard !claim.exchanged else { break }
            first = claim.original
        }
        while Int32(bitPattern: end &- first) > 0 {
            // Claimed before it is read: only the owner, who is here, puts anything else there.
            let words = unsafe ec_words_load(slot(first))
            queue.append(LooseWork(words: words).assembled())
            first &+= 1
        }
    }

    /// Takes half of what waits here and adds all but the first piece of it to `other`, whose owner calls.
    ///
    /// Leaves alone who has a single piece, unless `takesLast`.
    package func steal(into other: borrowing WorkRing, takesLast: Bool) -> Work? {
        var first = front.load(ordering: .acquiring)
        while true {
            let waiting = end.load(ordering: .acquiring) &- first
            let share = waiting &- waiting / 2
            // More than there is room for: the front has moved since it was read.
            if share > Self.capacity / 2 {
                first = front.load(ordering: .acquiring)
                continue
            }
            if share == 0 || waiting == 1 && !takesLast { return nil }
            // The caller's own ring is empty, so there is room for half of any other.
            let start = other.end.load(ordering: .relaxed)
            let words = unsafe ec_words_load(slot(first))
            for index in 1..<share {
                unsafe ec_words_store(other.slot(start &+ index &- 1), ec_words_load(slot(first &+ index)))
            }
            let claim = front.compareExchange(
                expected: first, desired: first &+ share, successOrdering: .acquiringAndReleasing,
                failureOrdering: .acquiring)
            if claim.exchanged {
                // Releasing, as in `append`.
                other.end.store(start &+ share &- 1, ordering: .releasing)
                return LooseWork(words: words).assembled()
            }
            first = claim.original
        }
    }

    private func slot(_ position: UInt32) -> UnsafeMutablePointer<ec_words> {
        unsafe slots + Int(position % Self.capacity)
    }
}
