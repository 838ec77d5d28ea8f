internal import Synchronization

extension Async {
    /// Returns a future of `transform(value)`, run on `context`; an error is passed on.
    ///
    /// An error that `transform` throws is the outcome as well.
    @_disfavoredOverload
    @inlinable
    public func map<NewValue: Sendable>(
        on context: some ExecutionContext = .immediate,
        fileID: StaticString = #fileID, line: UInt = #line,
        _ transform: @escaping @Sendable (Value) throws -> NewValue
    ) -> Async<NewValue> {
        derived(.map, on: context, fileID, line) { source, derived in
            derived.completeByValue(of: source) { value in
                derived.complete(with: try transform(value))
            }
        }
    }

    /// Returns a future that completes like the one `transform` returns for this value, on
    /// `context`.
    @_disfavoredOverload
    @inlinable
    public func flatMap<NewValue: Sendable>(
        on context: some ExecutionContext = .immediate,
        fileID: StaticString = #fileID, line: UInt = #line,
        _ transform: @escaping @Sendable (Value) throws -> Async<NewValue>
    ) -> Async<NewValue> {
        derived(.flatMap, on: context, fileID, line) { source, derived in
            derived.completeByValue(of: source) { value in derived.follow(try transform(value)) }
        }
    }

    /// Returns a future of the value, or of the error that `transform` returns for the error, on
    /// `context`.
    @_disfavoredOverload
    @inlinable
    public func mapError(
        on context: some ExecutionContext = .immediate,
        fileID: StaticString = #fileID, line: UInt = #line,
        _ transform: @escaping @Sendable (any Error) -> any Error
    ) -> Async {
        derived(.mapError, on: context, fileID, line) { source, derived in
            derived.completeByError(of: source, Value.self) {
                derived.complete(throwing: transform($0))
            }
        }
    }

    /// Returns a future of the value, or of what `transform` returns for the error, on `context`.
    ///
    /// If `transform` throws, its error is the outcome.
    @_disfavoredOverload
    @inlinable
    public func recover(
        on context: some ExecutionContext = .immediate,
        fileID: StaticString = #fileID, line: UInt = #line,
        _ transform: @escaping @Sendable (any Error) throws -> Value
    ) -> Async {
        derived(.recover, on: context, fileID, line) { source, derived in
            derived.completeByError(of: source, Value.self) {
                derived.complete(with: try transform($0))
            }
        }
    }

    /// Returns a future of the value; for an error, one that completes like the one `transform`
    /// returns, on `context`.
    @_disfavoredOverload
    @inlinable
    public func flatRecover(
        on context: some ExecutionContext = .immediate,
        fileID: StaticString = #fileID, line: UInt = #line,
        _ transform: @escaping @Sendable (any Error) throws -> Async
    ) -> Async {
        derived(.flatRecover, on: context, fileID, line) { source, derived in
            derived.completeByError(of: source, Value.self) { derived.follow(try transform($0)) }
        }
    }

    /// Returns a future whose propagation runs on `context`, when this completes in the way that
    /// `kind` is for.
    @inlinable
    func derived<NewValue>(
        _ kind: Derived.Kind, on context: some ExecutionContext, _ fileID: StaticString,
        _ line: UInt, _ propagation: @escaping FutureState.Propagation
    ) -> Async<NewValue> {
        Async<NewValue>(
            state: Derived.from(state, kind, ContextHop.to(context, fileID, line), propagation))
    }
}

// Inlined into the propagation, which so captures the user's function and nothing else.
extension FutureState {
    /// Completes it by `body`, which gets the value of `source`; passes an error on.
    @inlinable @inline(__always)
    final func completeByValue<Value>(of source: FutureState, _ body: (Value) throws -> Void) {
        if let error = source.error { return _ = complete(throwing: error) }
        do { try body(source.load()) } catch { complete(throwing: error) }
    }

    /// Completes it by `body`, which gets the error of `source`; passes a value on.
    @inlinable @inline(__always)
    final func completeByError<Value>(
        of source: FutureState, _ type: Value.Type, _ body: (any Error) throws -> Void
    ) {
        guard let error = source.error else { return complete(like: source, type) }
        do { try body(error) } catch { complete(throwing: error) }
    }

    /// Completes it like another future, once that has completed.
    @inlinable @inline(__always)
    final func follow<Value>(_ other: Async<Value>) { follow(other.state, Self.copy(Value.self)) }

    /// The propagation that completes a state like its source, whose value is of this type.
    @inlinable @inline(__always)
    static func copy<Value>(_ type: Value.Type) -> Propagation {
        { source, state in state.complete(like: source, Value.self) }
    }
}

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
