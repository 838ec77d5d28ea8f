internal import Synchronization

/// The line of those who submit from outside a pool, and of what the workers' rings have no room for.
@safe struct Injector: ~Copyable {
    private let line = Guarded(InjectorLine())
    /// How much waits, for those who only look.
    private let waiting = Atomic<Int>(0)

    // Acquiring: who sees that something waits may take the lock and find it. Who must not miss anything has passed a
    // fence after what it did before.
    var count: Int { waiting.load(ordering: .acquiring) }

    var isEmpty: Bool { count == 0 }

    /// Adds a piece; false if the line is closed, except to what has been accepted already.
    func append(_ work: consuming @escaping Work, isAccepted: Bool) -> Bool {
        let work = work
        return line.withLock { line in
            if line.isClosed && !isAccepted { return false }
            line.queue.append(work)
            // Releasing, here and below; written under the lock only.
            waiting.store(line.queue.count, ordering: .releasing)
            return true
        }
    }

    /// Takes over what waits in a worker's ring.
    @inline(never)
    func append(contentsOf ring: borrowing WorkRing) {
        line.withLock { line in
            while let work = ring.take() { line.queue.append(work) }
            waiting.store(line.queue.count, ordering: .releasing)
        }
    }

    /// Takes the first piece, and moves a share of what else waits into a ring that is the caller's own.
    func take(into ring: borrowing WorkRing, sharedBy workers: Int) -> Work? {
        if isEmpty { return nil }
        // Not the result of the closure: a function that goes through a generic one comes back in a thunk.
        var first: Work?
        line.withLock { line in
            first = line.queue.popFirst()
            // No more than a fair share, nor than what a slow piece may hold up. Others only make more room.
            let room = Int(WorkRing.capacity) - ring.count
            for _ in 0..<min(line.queue.count / workers, 32, room) {
                guard let work = line.queue.popFirst() else { break }
                _ = ring.append(work)
            }
            waiting.store(line.queue.count, ordering: .releasing)
        }
        return first
    }

    func close() { line.withLock { $0.isClosed = true } }
}

struct InjectorLine: ~Copyable {
    var queue = WorkQueue()
    var isClosed = false
}
