internal import Synchronization

/// Jobs for which the workers' rings had no room, in batches. The newest batch comes back first.
///
/// So a tree of jobs is run depth first: few jobs are queued, and they are still in the processor's
/// cache. Workers and the monitor take from the oldest batch at intervals, to prevent starvation.
@safe struct PoolOverflow: ~Copyable {
    /// Not a `FIFO`: mostly the newest leaves first. A slice removes its first element cheaply,
    /// too.
    private let batches = Guarded<ArraySlice<Batch>>([])
    /// The number of queued jobs, for reads without the lock.
    private let waiting = Atomic<Int>(0)

    // Acquiring: a reader that sees a job counted can take the lock and find it. A reader that must
    // not miss a job has passed a fence after its own earlier writes.
    @inline(__always)
    var count: Int { waiting.load(ordering: .acquiring) }

    @inline(__always)
    var isEmpty: Bool { count == 0 }

    /// Takes over the jobs of a worker's ring, except the last `rest`.
    @inline(never)
    func append(contentsOf ring: borrowing WorkRing, allBut rest: UInt32 = 0) {
        let batch = Batch()
        ring.move(to: &batch.queue, allBut: rest)
        if batch.queue.isEmpty { return }
        batches.withLock { batches in
            batches.append(batch)
            // Counted before any worker can take the batch, so that the count never falls below
            // zero. Releasing, as below: a reader that sees the count finds the batch, or sees what
            // the worker that took it did.
            waiting.add(batch.queue.count, ordering: .releasing)
        }
    }

    /// Takes the newest batch into `ring`, which the caller owns, and which is empty.
    @inline(__always)
    func take(into ring: borrowing WorkRing) -> Work? { isEmpty ? nil : takeNewest(into: ring) }

    @inline(never)
    private func takeNewest(into ring: borrowing WorkRing) -> Work? {
        guard let batch = batches.withLock({ $0.popLast() }) else { return nil }
        let count = batch.queue.count
        let first = batch.queue.popFirst()
        while let work = batch.queue.popFirst() { _ = ring.append(work) }
        // After the jobs are in the ring: the pool never looks empty meanwhile.
        waiting.subtract(count, ordering: .releasing)
        return first
    }

    /// Takes the oldest job, and moves the next ones into `ring`, which the caller owns.
    func takeOldest(into ring: borrowing WorkRing) -> Work? {
        if isEmpty { return nil }
        // Not the result of the closure: see `Injector`.
        var first: Work?
        var count = 0
        batches.withLock { batches in
            guard let batch = batches.first else { return }
            first = batch.queue.popFirst()
            count = 1
            while count < Self.share, ring.hasRoom, let work = batch.queue.popFirst() {
                _ = ring.append(work)
                count += 1
            }
            if batch.queue.isEmpty { batches.removeFirst() }
            // A slice keeps the memory of its removed elements.
            if batches.isEmpty { batches = [] }
        }
        waiting.subtract(count, ordering: .releasing)
        return first
    }

    /// Moves the oldest batch to where every worker takes from, if it came before `moment`.
    func moveOldest(to rescued: borrowing Injector, olderThan moment: Int64) {
        if isEmpty { return }
        guard
            let batch = batches.withLock({ batches -> Batch? in
                guard let batch = batches.first, batch.arrival < moment else { return nil }
                // One batch at a time: the next one is due after as long again.
                batches.removeFirst()
                batches.first?.arrival = max(batches.first?.arrival ?? 0, moment + 50_000_000)
                return batch
            })
        else { return }
        let count = batch.queue.count
        while let work = batch.queue.popFirst() {
            _ = rescued.append(UnmanagedWork(work), isAccepted: true)
        }
        // After the jobs are in `rescued`: the pool never looks empty meanwhile.
        waiting.subtract(count, ordering: .releasing)
    }

    /// How many of the oldest jobs are taken at a time.
    private static var share: Int { 32 }

    /// The jobs of one ring that was full.
    // Not private: see `Injector.Arrivals`.
    final class Batch {
        var queue = WorkQueue()
        /// When the batch came; reached under the lock, once it has been added.
        var arrival = MonotonicClock.nanoseconds
    }
}
