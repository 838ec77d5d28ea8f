internal import Synchronization

/// What a view hands to its base: the right to drain the view, once.
///
/// A base may be anybody's context and do anything with what it is given: run it twice, or let go of it. A
/// second run does nothing, and a ticket that dies unused says so, so that nobody waits for ever for a drain
/// that never comes (law 1).
final class Ticket<View: Drainable>: Sendable {
    private let view: View
    private let isUsed = Atomic<Bool>(false)

    init(_ view: View) { self.view = view }

    deinit { if use() { view.drainWasLost() } }

    func redeem() { if use() { view.drain() } }

    func refuse() { if use() { view.drainWasLost() } }

    // Acquiring and releasing: what the submitter wrote is seen by the drain, whatever the base does.
    private func use() -> Bool { !isUsed.exchange(true, ordering: .acquiringAndReleasing) }
}

/// A view over a base context, which drains its own queue when the base gives it a thread.
protocol Drainable: AnyObject, Sendable {
    associatedtype Base: ExecutionContext
    var base: Base { get }
    /// Runs what waits, for a while.
    func drain()
    /// The base has let go of a drain: what waited for it is abandoned.
    func drainWasLost()
}

extension Drainable {
    func requestDrain(neverInline: Bool = false) {
        let ticket = Ticket(self)
        if neverInline {
            base.enqueue { ticket.redeem() }
        } else {
            base.execute({ ticket.redeem() }, refused: { _ in ticket.refuse() })
        }
    }

    var identity: Frame.Owner { unsafe Frame.owner(self) }
}

/// How long a drain may hold its thread before it lets its neighbours have a turn.
struct DrainBudget {
    private var pieces = 0
    private let start = MonotonicClock.nanoseconds

    /// Counts a piece; true when 256 are done or about a millisecond has passed.
    mutating func spend() -> Bool {
        pieces += 1
        // The clock costs as much as a small piece of work, so it is asked at every eighth.
        return pieces >= 256
            || pieces & 7 == 0 && MonotonicClock.nanoseconds - start > 1_000_000
    }
}
