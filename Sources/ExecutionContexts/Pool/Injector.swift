internal import Synchronization

/// A queue of jobs that any thread appends to and every worker takes from.
///
/// It is two queues, each with its own lock. Submitters append to `arrivals`; workers take from
/// `departures`. A worker that finds `departures` empty moves all arrivals there at once. So
/// submitters and workers contend once for many jobs.
@safe struct Injector: ~Copyable {
    // Not private: Swift 6.3 does not compile the class of another file that stores an injector.
    struct Arrivals: ~Copyable {
        var queue = WorkQueue()
        var isClosed = false
    }

    private let arrivals = Guarded(Arrivals())
    private let departures = Guarded(WorkQueue())
    /// Which of the two queues have jobs. Each bit changes under the lock of its queue.
    private let presence = Atomic<UInt8>(0)
    private static let arrived: UInt8 = 1
    private static let departs: UInt8 = 2

    /// Acquiring: a reader that sees a bit can take the lock and find the job. A reader that must
    /// not miss a job has passed a fence after its own earlier writes.
    @inline(__always)
    var isEmpty: Bool { presence.load(ordering: .acquiring) == 0 }

    var count: Int { departures.withLock { $0.count } + arrivals.withLock { $0.queue.count } }

    /// Appends a job; false, and drops it, if the injector is closed and had not accepted it.
    func append(_ work: UnmanagedWork, isAccepted: Bool) -> Bool {
        let didAdd = arrivals.withLock { arrivals in
            if arrivals.isClosed && !isAccepted { return false }
            // Releasing, here and below: a reader that sees the bit finds the job.
            if arrivals.queue.isEmpty { presence.bitwiseOr(Self.arrived, ordering: .releasing) }
            arrivals.queue.append(work.assembled())
            return true
        }
        if !didAdd { _ = work.assembled() }
        return didAdd
    }

    /// Takes the first job, and moves a share of the others into `ring`, which the caller owns.
    @inline(__always)
    func take(into ring: borrowing WorkRing, sharedBy workers: Int) -> Work? {
        if isEmpty { return nil }
        return takeOne(into: ring, sharedBy: workers)
    }

    @inline(never)
    private func takeOne(into ring: borrowing WorkRing, sharedBy workers: Int) -> Work? {
        // Not the result of `withLock`, which is generic: it would come in a reabstraction thunk.
        var first: Work?
        departures.withLock { queue in
            if queue.isEmpty, !moveArrivals(to: &queue) { return }
            first = queue.popFirst()
            // A fair share, and half a ring at most. Thieves can only make more room in the ring.
            let room = Int(WorkRing.capacity) - ring.count
            for _ in 0..<min(queue.count / workers, Int(WorkRing.capacity) / 2, room) {
                guard let work = queue.popFirst() else { break }
                _ = ring.append(work)
            }
            if queue.isEmpty { presence.bitwiseAnd(~Self.departs, ordering: .releasing) }
        }
        return first
    }

    /// Moves all arrivals to the empty queue of departures; false if there are none.
    private func moveArrivals(to queue: inout WorkQueue) -> Bool {
        arrivals.withLock { arrivals in
            if arrivals.queue.isEmpty { return false }
            arrivals.queue.reuse(&queue)
            queue = arrivals.queue.takeAll()
            // Both bits change at once, so the injector never looks empty meanwhile.
            presence.bitwiseXor(Self.arrived | Self.departs, ordering: .releasing)
            return true
        }
    }

    func close() { arrivals.withLock { $0.isClosed = true } }
}
