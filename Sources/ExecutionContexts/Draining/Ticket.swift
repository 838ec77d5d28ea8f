internal import Synchronization

/// What a view hands to its base: the right to drain the view, once.
///
/// A base may be anybody's context and do anything with what it is given: run it twice, or let go of it. A
/// second run does nothing, and a ticket that dies unused says so, so that nobody waits for ever for a drain
/// that never comes (law 1).
final class Ticket: Sendable {
    private let view: DrainedView
    private let isUsed = Atomic<Bool>(false)

    init(_ view: DrainedView) { self.view = view }

    deinit { if use() { view.drainWasLost() } }

    func redeem() { if use() { view.drain() } }

    // Acquiring and releasing: what the submitter wrote is seen by the drain, whatever the base does.
    private func use() -> Bool { !isUsed.exchange(true, ordering: .acquiringAndReleasing) }
}
