internal import Synchronization

/// The line of those who submit from outside a pool.
///
/// Two lines, each with a lock of its own: one is added to, the other is taken from. Who takes and finds nothing there moves
/// over all that has arrived at once. So those who add and those who take meet once for many pieces.
@safe struct Injector: ~Copyable {
    private let arrivals = Guarded(Arrivals())
    private let departures = Guarded(WorkQueue())
    /// Which of the two have anything, for those who only look. Each bit changes under the lock of its line.
    private let presence = Atomic<UInt8>(0)
    private static let arrived: UInt8 = 1
    private static let departs: UInt8 = 2

    /// Acquiring: who sees that something waits may take the lock and find it. Who must not miss anything has passed a
    /// fence after what it did before.
    @inline(__always)
    var isEmpty: Bool { presence.load(ordering: .acquiring) == 0 }

    /// How much waits; for those who only want a figure.
    var count: Int { departures.withLock { $0.count } + arrivals.withLock { $0.queue.count } }

    /// Adds a piece; false, and the piece is let go of, if the line is closed and it has not been accepted before.
    func append(_ work: LooseWork, isAccepted: Bool) -> Bool {
        let isIn = arrivals.withLock { arrivals in
            if arrivals.isClosed && !isAccepted { return false }
            // Releasing, here and below: who sees the bit finds the work.
            if arrivals.queue.isEmpty { presence.bitwiseOr(Self.arrived, ordering: .releasing) }
            arrivals.queue.append(work.assembled())
            return true
        }
        if !isIn { _ = work.assembled() }
        return isIn
    }

    /// Takes the first piece, and moves a share of what else waits into a ring that is the caller's own.
    @inline(__always)
    func take(into ring: borrowing WorkRing, sharedBy workers: Int) -> Work? {
        if isEmpty { return nil }
        return takeOne(into: ring, sharedBy: workers)
    }

    @inline(never)
    private func takeOne(into ring: borrowing WorkRing, sharedBy workers: Int) -> Work? {
        // Not the result of the closure: a function that goes through a generic one comes back in a thunk.
        var first: Work?
        departures.withLock { queue in
            if queue.isEmpty, !moveArrivals(to: &queue) { return }
            first = queue.popFirst()
            // No more than a fair share. Others only make more room.
            let room = Int(WorkRing.capacity) - ring.count
            for _ in 0..<min(queue.count / workers, Self.share, room) {
                guard let work = queue.popFirst() else { break }
                _ = ring.append(work)
            }
            if queue.isEmpty { presence.bitwiseAnd(~Self.departs, ordering: .releasing) }
        }
        return first
    }

    /// How much is moved into a ring at a time, at the most: half of what there is room for.
    private static var share: Int { Int(WorkRing.capacity) / 2 }

    /// Makes what has arrived what departs; false if there is nothing.
    private func moveArrivals(to queue: inout WorkQueue) -> Bool {
        arrivals.withLock { arrivals in
            if arrivals.queue.isEmpty { return false }
            arrivals.queue.reuse(&queue)
            queue = arrivals.queue.takeAll()
            // Both bits at once: at no time does it look as if there were nothing.
            presence.bitwiseXor(Self.arrived | Self.departs, ordering: .releasing)
            return true
        }
    }

    func close() { arrivals.withLock { $0.isClosed = true } }
}

struct Arrivals: ~Copyable {
    var queue = WorkQueue()
    var isClosed = false
}
