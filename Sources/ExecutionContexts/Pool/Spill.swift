internal import Synchronization

/// What the workers' rings have had no room for, in packs: the newest comes back first.
///
/// A tree of work so goes down before it goes sideways, and what waits is little and still at hand for the processor. The oldest
/// pack has its turn now and then, by who looks for those who would come last.
@safe struct Spill: ~Copyable {
    private let packs = Guarded(SpilledPacks())
    /// How much waits; for those who only look, or want a figure.
    private let waiting = Atomic<Int>(0)

    // Acquiring: who sees that something waits may take the lock and find it. Who must not miss anything has passed a
    // fence after what it did before.
    @inline(__always)
    var count: Int { waiting.load(ordering: .acquiring) }

    @inline(__always)
    var isEmpty: Bool { count == 0 }

    /// Takes over what waits in a worker's ring, but for the last `rest` pieces.
    @inline(never)
    func append(contentsOf ring: borrowing WorkRing, allBut rest: UInt32 = 0) {
        let pack = SpilledPack()
        ring.move(to: &pack.queue, allBut: rest)
        if pack.queue.isEmpty { return }
        packs.withLock { packs in
            packs.all.append(pack)
            // Before anybody can take it, so that it never looks as if there were less than nothing. Releasing, as below:
            // who sees the count finds the pack, or whoever has taken it.
            waiting.add(pack.queue.count, ordering: .releasing)
        }
    }

    /// Takes the newest pack into a ring that is the caller's own, and has room for it: nothing is in it.
    @inline(__always)
    func take(into ring: borrowing WorkRing) -> Work? { isEmpty ? nil : takeNewest(into: ring) }

    @inline(never)
    private func takeNewest(into ring: borrowing WorkRing) -> Work? {
        guard let pack = packs.withLock({ $0.all.popLast() }) else { return nil }
        let count = pack.queue.count
        let first = pack.queue.popFirst()
        while let work = pack.queue.popFirst() { _ = ring.append(work) }
        // After that: at no time does it look as if there were nothing.
        waiting.subtract(count, ordering: .releasing)
        return first
    }

    /// Takes the oldest piece, and moves what comes next, as far as there is room, into a ring that is the caller's own.
    func takeOldest(into ring: borrowing WorkRing) -> Work? {
        if isEmpty { return nil }
        // Not the result of the closure: a function that goes through a generic one comes back in a thunk.
        var first: Work?
        var count = 0
        packs.withLock { packs in
            guard let pack = packs.all.first else { return }
            first = pack.queue.popFirst()
            count = 1
            while count < Self.share, ring.hasRoom, let work = pack.queue.popFirst() {
                _ = ring.append(work)
                count += 1
            }
            if pack.queue.isEmpty { packs.all.removeFirst() }
            // A slice keeps the memory of what it has lost.
            if packs.all.isEmpty { packs.all = [] }
        }
        waiting.subtract(count, ordering: .releasing)
        return first
    }

    /// Moves the oldest pack to where every worker takes from, if it has been here since before a
    /// moment.
    func moveOldest(to rescued: borrowing Injector, olderThan moment: Int64) {
        if isEmpty { return }
        guard
            let pack = packs.withLock({ packs -> SpilledPack? in
                guard let pack = packs.all.first, pack.arrival < moment else { return nil }
                // One at a time: the next is due when this one has been served for as long again.
                packs.all.removeFirst()
                packs.all.first?.arrival = max(packs.all.first?.arrival ?? 0, moment + 50_000_000)
                return pack
            })
        else { return }
        let count = pack.queue.count
        while let work = pack.queue.popFirst() { _ = rescued.append(LooseWork(work), isAccepted: true) }
        // After that: at no time does it look as if there were nothing.
        waiting.subtract(count, ordering: .releasing)
    }

    /// How many of the oldest are taken at a time.
    private static var share: Int { 32 }
}

/// What one ring held.
final class SpilledPack {
    var queue = WorkQueue()
    /// When it came; reached under the lock, once it has been added.
    var arrival = MonotonicClock.nanoseconds
}

struct SpilledPacks: ~Copyable {
    // A slice, which loses its first as cheaply as its last.
    var all: ArraySlice<SpilledPack> = []
}
