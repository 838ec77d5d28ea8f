import Synchronization

/// Waits by spinning, so that the waiting thread does not count as blocked.
package final class BusyWait: Sendable {
    private let isOver = Atomic(false)

    package init() {}

    package func end() { isOver.store(true, ordering: .releasing) }

    package func run() { while !isOver.load(ordering: .acquiring) {} }
}
