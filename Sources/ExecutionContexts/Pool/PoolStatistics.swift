/// What a pool is doing, and what it has done since it was made.
///
/// Each figure is right at some moment of the call, and not all at the same.
public struct PoolStatistics: Hashable, Sendable {
    /// How many pieces may be getting on at a time.
    public let width: Int
    /// How many workers have work, or look for some.
    public let active: Int
    /// How many of those wait, as far as is known.
    public let waiting: Int
    /// How many workers there are, at work or at rest.
    public let workers: Int
    /// How many pieces have been submitted and not begun.
    public let pending: Int
    /// How many pieces have been begun.
    public let begun: Int
    /// How many jobs have been found asleep in a wait that the library does not know of, each time
    /// they were, how many workers were called in expectation of more, and how many jobs went on beyond the width after
    /// a wait for exclusive access.
    ///
    /// A pool that computes has none. Each may have let another job run beyond the width (law 11).
    /// Put ``WorkerPool/blocking(_:)`` around such a wait.
    public let substitutes: Int

    init(of core: PoolCore) {
        width = core.width
        (active, waiting, substitutes) = core.roster.withLock {
            ($0.active, $0.active - $0.running, $0.substitutes)
        }
        workers = core.count
        let all = (0..<core.count).map { core.worker($0) }
        pending =
            all.reduce(
                core.urgent.count + core.line.count + core.spill.count + core.rescued.count
                    + core.patient.count
            ) {
                $0 + $1.ring.count
            }
        begun = all.reduce(0) { $0 + $1.pieces }
    }
}
