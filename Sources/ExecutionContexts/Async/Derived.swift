internal import Synchronization

/// The future state of an `Async` that a function of the user derives from another one.
///
/// It subscribes to its source. When it is notified, it runs the function. Then it completes or, if
/// the function returns another `Async`, follows that one.
@usableFromInline
class Derived: FutureState, @unchecked Sendable {
    // Unchecked: the kind never changes.

    @usableFromInline
    enum Kind: UInt8 {
        case map, flatMap, mapError, recover, flatRecover, andThen

        /// Whether the user's function is for errors only.
        var isForErrors: Bool { self == .mapError || self == .recover || self == .flatRecover }

        /// Whether the user's function is for such an outcome. Any other is passed on at once.
        func isFor(failure: Bool) -> Bool { self == .andThen || isForErrors == failure }
    }

    /// Kept in the bits of the superclass's tag.
    fileprivate final var kind: Kind { unsafe Kind(rawValue: tag & 0x1f) ?? .map }

    fileprivate init(_ kind: Kind, _ propagation: @escaping Propagation, tag: UInt8 = 0) {
        super.init(
            propagation, tag: tag | kind.rawValue,
            mayFollow: kind == .flatMap || kind == .flatRecover)
    }

    /// Makes a state that is subscribed to `source`.
    @usableFromInline
    static func from(
        _ source: FutureState, _ kind: Kind, _ hop: ContextHop?,
        _ propagation: @escaping Propagation
    ) -> Derived {
        guard let hop else {
            let derived = Derived(kind, propagation)
            derived.subscribe(to: source)
            return derived
        }
        let derived = HoppingDerived(kind, hop, propagation)
        derived.subscribe(to: source)
        return derived
    }

    override var label: String { "\(kind) on 'immediate'" }
}

/// A derived state whose function runs on a context.
///
/// | hop state | meaning | next |
/// |---|---|---|
/// | waiting | the function has not begun | gaveUp, arrived |
/// | gaveUp | the future completed before the function began | |
/// | arrived | the function has begun, or the outcome skips it | passed |
/// | passed | the function has returned, or the outcome has skipped it | |
private final class HoppingDerived: Derived, @unchecked Sendable {
    // Unchecked: the thread that moves `hopState` from waiting owns the propagation. The hop is
    // released at the end, unless a thread may still be notifying this. Threads other than the
    // notifying one read it while the state is locked and pending.
    private var hop: ContextHop?
    private let hopState = Atomic<HopState>(.waiting)

    private enum HopState: UInt8, AtomicRepresentable {
        case waiting, gaveUp, arrived, passed

        var hasArrived: Bool {
            switch self {
            case .waiting, .gaveUp: false
            case .arrived, .passed: true
            }
        }
    }

    init(_ kind: Kind, _ hop: ContextHop, _ propagation: @escaping Propagation) {
        self.hop = hop
        super.init(kind, propagation, tag: Self.holdsUntilCompletion)
    }

    override func sourceCompleted(_ source: FutureState) {
        // Relaxed: it was queued after `arrived` was stored. The state that it follows once its
        // function has run needs no hop.
        if hopState.load(ordering: .relaxed).hasArrived { return propagate(source) }
        guard isPending, kind.isFor(failure: unsafe source.isFailure) else {
            return arrive(with: source)
        }
        hop?.hop(self, with: source)
    }

    // Before its function has begun, the propagation belongs to the thread that moves `hopState`.
    override var isMovable: Bool { hopState.load(ordering: .relaxed).hasArrived }

    override func arrive(with source: FutureState) {
        guard leaveWaiting(to: .arrived) else { return }
        propagate(source)
        // Relaxed: only the search for obstacles reads this.
        hopState.store(.passed, ordering: .relaxed)
    }

    override func refuse(_ refusal: Refusal) {
        guard leaveWaiting(to: .gaveUp) else { return }
        freePropagation()
        complete(throwing: refusal)
    }

    override func didComplete() {
        // Acquiring: the notifying thread no longer uses the hop.
        if hopState.load(ordering: .acquiring).hasArrived { hop = nil }
    }

    override func didGiveUp(beforeNotified hasLeft: Bool) {
        if hasLeft { hop = nil }
        if hasLeft || leaveWaiting(to: .gaveUp) { freePropagation() }
    }

    // Acquiring and releasing: the thread that wins the propagation sees all of it, and no other
    // thread accesses it.
    private func leaveWaiting(to next: HopState) -> Bool {
        SimulationHooks.point()
        return hopState.compareExchange(
            expected: .waiting, desired: next, ordering: .acquiringAndReleasing
        )
        .exchanged
    }

    override var obstacle: String? {
        guard let hop = hopToCaller else { return nil }
        // A function for values is no obstacle for an error, nor one for errors for a value: a
        // source that is pending may yet skip it.
        if kind != .andThen, let source = awaited,
            source.isPending || !kind.isFor(failure: unsafe source.isFailure)
        {
            return nil
        }
        return "its \(kind) must run on '\(hop.name)', which the caller keeps busy"
    }

    /// The hop, if its job has not run yet and the caller occupies its context.
    private var hopToCaller: ContextHop? {
        guard hopState.load(ordering: .relaxed) != .passed, let hop = whilePending({ hop }),
            hop.isKeptBusyByCaller
        else { return nil }
        return hop
    }

    override var label: String {
        whilePending { hop }.map { "\(kind) on '\($0.name)'" } ?? "\(kind)"
    }
}
