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

    func refuse() { if use() { view.drainWasLost() } }

    // Acquiring and releasing: what the submitter wrote is seen by the drain, whatever the base does.
    private func use() -> Bool { !isUsed.exchange(true, ordering: .acquiringAndReleasing) }
}

/// A view that keeps its work itself and drains it when its base gives it a thread.
///
/// A class, and not generic: a closure that captures nothing but such an object needs no memory of its own,
/// and a view asks its base for a thread often.
class DrainedView: @unchecked Sendable {
    // Unchecked because it can be inherited from; it has no state, and each view says how its own is guarded.

    /// Runs what waits, for a while.
    func drain() { fatalError("A drained view says how it drains.") }

    /// The base has let go of a drain: what waited for it is abandoned.
    func drainWasLost() { fatalError("A drained view says what it loses.") }

    final var identity: Frame.Owner { unsafe Frame.owner(self) }

    /// Asks a base for a thread to drain on.
    final func requestDrain(on base: some ExecutionContext, isReliable: Bool) {
        if isReliable { return base.execute { self.drain() } }
        let ticket = Ticket(self)
        base.execute({ ticket.redeem() }, refused: { _ in ticket.refuse() })
    }

    /// Asks a base for a thread that is not the caller's.
    final func requestDrainElsewhere(on base: some ExecutionContext) {
        let ticket = Ticket(self)
        guard SystemTime.isFiring else { return base.enqueue { ticket.redeem() } }
        // The base may be one that runs its work on the caller: not on the timer's thread (law 7).
        GlobalContext().execute { base.enqueue { ticket.redeem() } }
    }
}

/// A context of the library's own that certainly runs what it is given, once, and needs no ticket for it.
protocol ReliableContext: ExecutionContext {}
