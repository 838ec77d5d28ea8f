#if canImport(Darwin)
internal import ObjectiveC

/// Runs one piece of work of a thread that runs many: what it leaves to be released later is released after it (law 10).
enum Batch {
    @inline(__always)
    static func run(_ work: Work) { autoreleasepool { work() } }
}
#endif
