/// What a pool is doing, and what it has done since it was made.
///
/// Each figure is right at some moment of the call, and not all of them at the same moment.
public struct PoolStatistics: Hashable, Sendable {
    /// How many jobs may run at a time.
    public let width: Int
    /// How many workers have a job, or search for one.
    public let active: Int
    /// How many of the active workers wait, as far as is known.
    public let waiting: Int
    /// How many workers have a thread: the active ones, and those that keep theirs for a moment.
    public let workers: Int
    /// How many jobs have been submitted and not begun.
    public let pending: Int
    /// How many jobs have been begun.
    public let begun: Int
    /// How many jobs may have run beyond the width of the pool (law 11).
    ///
    /// It counts each time that a job was found asleep in a wait that the library does not know of,
    /// each worker that was started in expectation of more such waits, and each job that continued
    /// beyond the width after a wait for exclusive access. A pool whose jobs only compute has none.
    /// Put ``WorkerPool/blocking(_:)`` around a wait that the library does not know of.
    public let substitutes: Int

    init(of core: PoolCore) {
        width = core.width
        (active, waiting, substitutes) = core.accounting.withLock {
            ($0.active, $0.active - $0.running, $0.substitutions)
        }
        workers = core.accounting.withLock { $0.threads }
        pending = core.pendingCount
        begun = (0..<core.count).reduce(0) { $0 + core.worker($1).begunCount }
    }
}
