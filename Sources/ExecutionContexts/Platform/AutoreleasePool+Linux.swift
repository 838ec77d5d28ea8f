#if os(Linux) || os(Android)
/// Runs one job of a thread that runs many; the system has no autoreleased objects.
enum AutoreleasePool {
    @inline(__always)
    static func run(_ work: Work) { work() }
}
#endif
