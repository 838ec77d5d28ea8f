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
    fileprivate final var kind: Kind { unsafe Kind(rawValue: tag & 0x1f) ?? .map }

    fileprivate init(_ kind: Kind, _ step: @escaping Step, tag: UInt8 = 0) {
        super.init(
            step, tag: tag | kind.rawValue, mayPassOn: kind == .flatMap || kind == .flatRecover)
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
private final class Hopping: Derived, @unchecked Sendable {
    // Unchecked: once it has been told the step belongs to whoever moves the stage on. The hop is let go of at the end
    // unless somebody may still be telling; others than who tells read it while the cell is locked and pending.
    private var hop: Hop?
    private let stage = Atomic<UInt8>(Stage.waits)

    private enum Stage {
        static let waits: UInt8 = 0, gaveUp: UInt8 = 1, arrived: UInt8 = 2, passed: UInt8 = 3
    }

    init(_ kind: Kind, _ hop: Hop, _ step: @escaping Step) {
        self.hop = hop
        super.init(kind, step, tag: Self.holdsUntilEnd)
    }

    override func hear(of source: AsyncCell) {
        // Relaxed: it was put into the line after this. What it follows when its function has run needs no hop.
        if stage.load(ordering: .relaxed) >= Stage.arrived { return takeStep(source) }
        guard isPending, unsafe source.isFailure == kind.isForErrors else { return arrive(at: source) }
        hop?.take(self, to: source)
    }

    // Before its function has run, its step belongs to whoever moves the stage on.
    override var isMovable: Bool { stage.load(ordering: .relaxed) >= Stage.arrived }

    override func arrive(at source: AsyncCell) {
        guard claim(as: Stage.arrived) else { return }
        takeStep(source)
        // Relaxed: only who looks for obstacles asks for this.
        stage.store(Stage.passed, ordering: .relaxed)
    }

    override func refuse(_ refusal: Refusal) {
        guard claim(as: Stage.gaveUp) else { return }
        freeStep()
        end(throwing: refusal)
    }

    override func didEnd() {
        // Acquiring: whoever told it has done so.
        if stage.load(ordering: .acquiring) >= Stage.arrived { hop = nil }
    }

    override func didGiveUp(beforeTold hasLeft: Bool) {
        if hasLeft { hop = nil }
        if hasLeft || claim(as: Stage.gaveUp) { freeStep() }
    }

    // Acquiring and releasing: who claims the step sees it whole, and no other touches it.
    private func claim(as next: UInt8) -> Bool {
        Seam.point()
        return stage.compareExchange(expected: Stage.waits, desired: next, ordering: .acquiringAndReleasing)
            .exchanged
    }

    override var obstacle: String? {
        guard let hop = hopToCaller else { return nil }
        // A function for errors is needed by an error only; without one for values no value can come.
        if let source = awaited,
            unsafe source.isPending ? kind.isForErrors : source.isFailure != kind.isForErrors
        {
            return nil
        }
        return "its \(kind) must run on '\(hop.name)', which the caller keeps busy"
    }

    override var decider: AsyncCell? {
        guard kind.isForErrors, hopToCaller != nil, let source = awaited, source.isPending else { return nil }
        return source
    }

    /// The hop, if it has not been made yet and the caller keeps its context busy.
    private var hopToCaller: Hop? {
        guard stage.load(ordering: .relaxed) != Stage.passed, let hop = whilePending({ hop }),
            hop.isKeptByCaller
        else { return nil }
        return hop
    }

    override var label: String { whilePending { hop }.map { "\(kind) on '\($0.name)'" } ?? "\(kind)" }
}
