/// In which order a pool begins what waits.
///
/// What is urgent comes before the rest, and what is patient after it. Neither waits for ever: now and then a worker
/// begins with those who would come last.
public enum WorkPriority: Int, Hashable, Comparable, Sendable, CaseIterable {
    /// Begins when nothing else waits, or has waited for long.
    case low
    /// The rest.
    case medium
    /// Begins before all others.
    case high

    public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}
