internal import Synchronization

/// Enqueued writes that have not run, in the order in which they came, and the turns that run them.
final class PendingWrites: Sendable {
    private let queue = Guarded(WorkQueue())

    func add(_ write: @escaping Work) { queue.withLock { $0.append(write) } }

    func next() -> Work? { queue.withLock { $0.popFirst() } }

    /// Runs the oldest write inside `section`; never inside an access of this thread that is under way (law 18).
    func runNext(in section: CriticalSection) {
        if section.isCurrent == true {
            GlobalContext().execute { self.runNext(in: section) }
        } else {
            section.execute { () throws(Never) -> Void in next()?() }
        }
    }

    /// The right to run one write, which a carrier gets. One that it refuses or loses is used on the global context.
    final class Turn: Sendable {
        private let writes: PendingWrites
        private let section: CriticalSection
        private let isUsed = Atomic<Bool>(false)

        init(_ writes: PendingWrites, _ section: CriticalSection) {
            self.writes = writes
            self.section = section
        }

        deinit {
            if use() { GlobalContext().execute { [writes, section] in writes.runNext(in: section) } }
        }

        func take() { if use() { writes.runNext(in: section) } }

        // Relaxed: who takes it only has to be one; what the writes need to see goes through their queue's lock.
        private func use() -> Bool { !isUsed.exchange(true, ordering: .relaxed) }
    }
}
