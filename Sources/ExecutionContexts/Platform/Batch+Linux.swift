#if os(Linux) || os(Android)
/// Runs one job of a thread that runs many.
enum Batch {
    @inline(__always)
    static func run(_ work: Work) { work() }
}
#endif
