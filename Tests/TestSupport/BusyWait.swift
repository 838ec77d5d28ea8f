import Synchronization

/// What is waited for by computing, so that nobody takes who waits for asleep.
package final class BusyWait: Sendable {
    private let isOver = Atomic(false)

    package init() {}

    package func end() { isOver.store(true, ordering: .releasing) }

    package func run() { while !isOver.load(ordering: .acquiring) {} }
}
