/// How urgent a job is, beside others that are queued at the same context.
///
/// A queue with priorities has one queue for each of the five. A pool has three: urgent jobs
/// (`high` and `highest`), the rest, and low-priority jobs (`low` and `lowest`). None starves in a
/// pool: where all three have jobs all the time, urgent jobs get four fifths of a worker's time
/// beside the rest, and low-priority jobs a ninth.
public enum WorkPriority: Int, Hashable, Comparable, Sendable, CaseIterable {
    /// Begins after all others; on a pool, like `low`.
    case lowest
    /// Begins when no other job is queued; on a pool also when it has waited for long.
    case low
    /// Begins after `high` and before `low`.
    case medium
    /// Begins before `medium`.
    case high
    /// Begins before all others; on a pool, like `high`.
    case highest

    public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}
