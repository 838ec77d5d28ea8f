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
    ///
    /// A job that moves from one queue of the pool to another during the call may be missed, or
    /// counted twice.
    public let pending: Int
    /// How many jobs have been begun.
    public let begun: Int
    /// How many jobs may run beyond the width of the pool now (law 11).
    ///
    /// These are the jobs that were found asleep in a wait that the library does not know of, and
    /// those that have continued without a permit. Of the jobs that are under way and do not wait
    /// by the library's means there are never more than `width + substitutes`.
    public let substitutes: Int
    /// How often a job was found asleep in a wait that the library does not know of.
    ///
    /// Put ``WorkerPool/blocking(_:)`` around such a wait. A pool whose jobs only compute has none,
    /// but for jobs that slept for long in the system.
    public let stalls: Int

    init(of core: PoolCore) {
        width = core.width
        (active, waiting, substitutes, stalls) = core.accounting.withLock {
            ($0.active, $0.active - $0.running, $0.substitutes, $0.stalls)
        }
        workers = core.accounting.withLock { $0.threads }
        pending = core.pendingCount
        begun = (0..<core.count).reduce(0) { $0 + core.worker($1).begunCount }
    }
}
