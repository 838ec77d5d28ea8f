/// Enqueued writes that have not run, in the order of their submission.
final class PendingWrites: Sendable {
    private let queue = Guarded(WorkQueue())

    func add(_ write: @escaping Work) { queue.withLock { $0.append(write) } }

    func next() -> Work? { queue.withLock { $0.popFirst() } }

    /// Runs the oldest write inside `section`, but never inside an access of this thread (law 18).
    func runNext(in section: CriticalSection) {
        if section.isCurrent == true {
            GlobalContext().execute { self.runNext(in: section) }
        } else {
            section.execute { () throws(Never) -> Void in next()?() }
        }
    }

    /// The right to run one write, which a job on the write context uses.
    ///
    /// If the write context refuses or drops that job, the write runs on the global context.
    struct Next: GuardedJob {
        let writes: PendingWrites
        let section: CriticalSection

        func run() { writes.runNext(in: section) }

        func drop() { GlobalContext().execute { [writes, section] in writes.runNext(in: section) } }
    }
}
