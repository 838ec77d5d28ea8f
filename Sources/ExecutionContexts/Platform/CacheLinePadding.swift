/// Keeps what stands before it and what stands behind it from sharing a cache line.
///
/// A thread that writes a word takes its whole cache line from all other threads.
package struct CacheLinePadding: Sendable {
    private let words: (Int, Int, Int, Int, Int, Int, Int) = (0, 0, 0, 0, 0, 0, 0)

    package init() {}
}
