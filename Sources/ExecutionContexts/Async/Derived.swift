internal import Synchronization

/// The cell of an `Async` that is made from another one by a function of the user's.
///
/// It stands in the source's line. When it is told it does its part, and ends or, if the function returns another
/// `Async`, follows that one.
@usableFromInline
class Derived: AsyncCell, @unchecked Sendable {
    // Unchecked: the kind never changes.

    @usableFromInline
    enum Kind: UInt8 {
        case map, flatMap, mapError, recover, flatRecover

        /// Whether the user's function is for errors. The other outcome is passed on on the spot.
        var isForErrors: Bool { self != .map && self != .flatMap }
    }

    /// Kept in the room that the superclass has left.
    fileprivate final var kind: Kind { unsafe Kind(rawValue: tag) ?? .map }

    fileprivate init(_ kind: Kind, _ step: @escaping Step) {
        super.init(step, tag: kind.rawValue)
    }

    /// A cell that stands in the line of `source`.
    @usableFromInline
    static func from(
        _ source: AsyncCell, _ kind: Kind, _ hop: Hop?, _ step: @escaping Step
    ) -> Derived {
        guard let hop else {
            let derived = Derived(kind, step)
            derived.wait(for: source)
            return derived
        }
        let derived = Hopping(kind, hop, step)
        derived.wait(for: source)
        return derived
    }

    override var label: String { "\(kind) on 'immediate'" }
}

/// One whose function runs on a context.
private final class Hopping: Derived, Traveller, @unchecked Sendable {
    // Unchecked: the hop never changes. On the way through the context the step belongs to whoever claims it.
    private let hop: Hop
    private let isClaimed = Atomic<Bool>(false)

    init(_ kind: Kind, _ hop: Hop, _ step: @escaping Step) {
        self.hop = hop
        super.init(kind, step)
    }

    override func tell(by source: AsyncCell) {
        // What it follows afterwards has claimed the step already, and needs no hop.
        let isForUser = unsafe source.isFailure == kind.isForErrors && !isClaimed.load(ordering: .relaxed)
        guard isPending, isForUser else { return takeStep(source) }
        hop.take(self, to: source)
    }

    func arrive(at source: AsyncCell) {
        if claim() { takeStep(source) }
    }

    func refuse(_ refusal: Refusal) {
        guard claim() else { return }
        unsafe step = nil
        end(throwing: refusal)
    }

    override func didGiveUp(beforeTold hasLeft: Bool) {
        if hasLeft || claim() { unsafe step = nil }
    }

    // Acquiring and releasing: who claims the step sees it whole, and no other touches it.
    private func claim() -> Bool { !isClaimed.exchange(true, ordering: .acquiringAndReleasing) }

    override var obstacle: String? {
        guard hop.isKeptByCaller else { return nil }
        return "its \(kind) must run on '\(hop.name)', which the caller keeps busy"
    }

    override var label: String { "\(kind) on '\(hop.name)'" }
}
