#if canImport(Darwin)
internal import ObjectiveC

/// Runs one job of a thread that runs many, and then releases the objects that the job autoreleased
/// (law 10).
enum AutoreleasePool {
    @inline(__always)
    static func run(_ work: Work) { autoreleasepool { work() } }
}
#endif
