/// How urgent work is, beside other work that waits at the same place.
///
/// A queue with priorities has a line for each of the five. A pool has three: what is urgent comes
/// before the rest, and what is patient after it. There neither waits for ever: where all of them
/// have jobs all the time, urgent ones have four fifths of a worker's time, and patient ones a
/// ninth.
public enum WorkPriority: Int, Hashable, Comparable, Sendable, CaseIterable {
    /// Begins after all others; on a pool, like `low`.
    case lowest
    /// Begins when nothing else waits; on a pool also when it has waited for long.
    case low
    /// The rest.
    case medium
    /// Begins before the rest.
    case high
    /// Begins before all others; on a pool, like `high`.
    case highest

    public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}
