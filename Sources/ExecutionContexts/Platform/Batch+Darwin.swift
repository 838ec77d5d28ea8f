#if canImport(Darwin)
internal import ObjectiveC

/// Runs one job of a thread that runs many: the objects that the job autoreleases are released
/// after it (law 10).
enum Batch {
    @inline(__always)
    static func run(_ work: Work) { autoreleasepool { work() } }
}
#endif
