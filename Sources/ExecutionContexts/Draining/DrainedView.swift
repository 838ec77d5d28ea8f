internal import CPlatform
internal import Dispatch

/// A view that keeps its work itself and drains it when its base gives it a thread.
///
/// A class, and not generic: a closure that captures nothing but such an object needs no memory of its own,
/// and a view asks its base for a thread often.
class DrainedView: @unchecked Sendable {
    // Unchecked because it can be inherited from; its own state is a constant, and each view says how the rest
    // is guarded.

    /// Whether the base needs no ticket; asked once, since asking a type costs as much as a ticket.
    private let isBaseReliable: Bool

    init(over base: (some ExecutionContext).Type) { isBaseReliable = base is any ReliableContext.Type }

    /// Runs what waits, for a while.
    func drain() { fatalError("A drained view says how it drains.") }

    /// The base has let go of a drain: what waited for it is abandoned.
    func drainWasLost() { fatalError("A drained view says what it loses.") }

    final var identity: Frame.Owner { unsafe Frame.owner(self) }

    /// Asks a base for a thread to drain on.
    final func requestDrain(on base: some ExecutionContext) {
        if isBaseReliable { return base.execute { self.drain() } }
        let ticket = Ticket(self)
        // A turn stands for work that was accepted: where there is no room for it, it enters all the same.
        base.execute({ ticket.redeem() }, refused: { _ in base.enqueue { ticket.redeem() } })
    }

    /// Runs `turn` with the thread marked as this view's, and again as long as it wants another turn (false) and
    /// the base gives one on the spot.
    final func takeTurns(on base: some ExecutionContext, _ turn: () -> Bool) {
        if unsafe Continuation.accept(identity) { return }
        unsafe Frame.enterJobs(of: identity) {
            while !turn(), requestTurn(on: base) {}
        }
    }

    /// Asks the base for another turn, from inside one; true if it came at once, inside this call.
    final func requestTurn(on base: some ExecutionContext) -> Bool {
        unsafe Continuation.offer(by: ec_frame_top().unsafelyUnwrapped) { requestDrain(on: base) }
    }

    /// Asks a base for a thread that is not the caller's.
    final func requestDrainElsewhere(on base: some ExecutionContext) {
        let ticket = Ticket(self)
        base.enqueue {
            guard SystemTime.isFiring else { return ticket.redeem() }
            // A base that runs its work on the caller and does not say so: not on the timer's thread (law 7).
            DispatchQueue.global().async { base.enqueue { ticket.redeem() } }
        }
    }
}

/// A context of the library's own that certainly runs what it is given, once, and needs no ticket for it.
protocol ReliableContext: ExecutionContext {}
