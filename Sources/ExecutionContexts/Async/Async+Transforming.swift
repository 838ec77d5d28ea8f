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

    /// Returns a future that follows the one `transform` returns for the value, on `context`.
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

    /// Returns a future of the value, or of the error that `transform` returns, on `context`.
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

    /// Returns a future of the value, or one that follows what `transform` returns for the error.
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

    /// Returns a future with the same outcome that completes after `body` got it on `context`.
    ///
    /// So the callbacks of the result come after `body`, on whichever context; callbacks of one
    /// `Async` on several contexts have no order (law 25). If the result is cancelled before `body`
    /// begins, `body` is not called.
    ///
    /// ```swift
    /// dataSource.getBirds()
    ///     .andThen(on: database) { outcome in print("stored before the screen shows it") }
    ///     .onSuccess(on: .main) { birds in print("\(birds.count) birds") }
    /// ```
    @_disfavoredOverload
    @inlinable
    public func andThen(
        on context: some ExecutionContext = .immediate,
        fileID: StaticString = #fileID, line: UInt = #line,
        _ body: @escaping @Sendable (Outcome) -> Void
    ) -> Async {
        derived(.andThen, on: context, fileID, line) { source, derived in
            let outcome: Outcome = source.outcome()
            body(outcome)
            derived.complete(with: outcome)
        }
    }

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
@usableFromInline
class Derived: FutureState, @unchecked Sendable {
    // Unchecked: the kind never changes.

    @usableFromInline
    enum Kind: UInt8 {
        case map, flatMap, mapError, recover, flatRecover, andThen

        /// Whether the user's function is for such an outcome. Any other is passed on at once.
        func isFor(failure: Bool) -> Bool {
            let isForErrors = self == .mapError || self == .recover || self == .flatRecover
            return self == .andThen || isForErrors == failure
        }
    }

    /// Kept in the bits of the superclass's tag.
    fileprivate final var kind: Kind { unsafe Kind(rawValue: tag & 0x1f) ?? .map }

    fileprivate init(_ kind: Kind, _ propagation: @escaping Propagation, tag: UInt8 = 0) {
        super.init(
            propagation, tag: tag | kind.rawValue,
            mayFollow: kind == .flatMap || kind == .flatRecover)
    }

    @usableFromInline
    static func from(
        _ source: FutureState, _ kind: Kind, _ hop: ContextHop?,
        _ propagation: @escaping Propagation
    ) -> Derived {
        let derived =
            hop.map { HoppingDerived(kind, $0, propagation) } ?? Derived(kind, propagation)
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
    // released at the end, unless a thread may still be notifying this. Other threads read it while
    // the state is locked and pending.
    private var hop: ContextHop?
    private let hopState = Atomic<HopState>(.waiting)

    private enum HopState: UInt8, AtomicRepresentable {
        case waiting, gaveUp, arrived, passed

        var hasArrived: Bool { self == .arrived || self == .passed }
    }

    init(_ kind: Kind, _ hop: ContextHop, _ propagation: @escaping Propagation) {
        self.hop = hop
        super.init(kind, propagation, tag: Self.holdsUntilCompletion)
    }

    override func sourceCompleted(_ source: FutureState) {
        // Relaxed: it was queued after `arrived` was stored. What it follows then needs no hop.
        if hopState.load(ordering: .relaxed).hasArrived { return propagate(source) }
        guard isPending, kind.isFor(failure: unsafe source.isFailure) else {
            return arrive(with: source)
        }
        hop?.hop(self, with: source)
    }

    // Before its function has begun, the propagation belongs to the thread that moves `hopState`.
    override var isMovable: Bool { hopState.load(ordering: .relaxed).hasArrived }

    /// Runs the propagation: on the hop's context, or where notified if the outcome skips it.
    func arrive(with source: FutureState) {
        guard leaveWaiting(to: .arrived) else { return }
        propagate(source)
        // Relaxed: only the search for obstacles reads this.
        hopState.store(.passed, ordering: .relaxed)
    }

    /// Handles that the context refused or dropped the job of the hop.
    func refuse(_ refusal: Refusal) {
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

    // Acquiring and releasing: the thread that wins the propagation sees all of it.
    private func leaveWaiting(to next: HopState) -> Bool {
        SimulationHooks.point()
        return hopState.compareExchange(
            expected: .waiting, desired: next, ordering: .acquiringAndReleasing
        )
        .exchanged
    }

    override var obstacle: String? {
        // Its job has not run yet, and the caller occupies its context.
        guard hopState.load(ordering: .relaxed) != .passed, let hop = whilePending({ hop }),
            hop.isKeptBusyByCaller
        else { return nil }
        // A function for values is no obstacle for an error, nor one for errors for a value: a
        // source that is pending may yet skip it.
        if kind != .andThen, let source = awaited,
            source.isPending || !kind.isFor(failure: unsafe source.isFailure)
        {
            return nil
        }
        return "its \(kind) must run on '\(hop.name)', which the caller keeps busy"
    }

    override var label: String {
        whilePending { hop }.map { "\(kind) on '\($0.name)'" } ?? "\(kind)"
    }
}

/// Continues notification on a context; erases the type of the context.
@usableFromInline
class ContextHop: @unchecked Sendable {
    // Unchecked because it can be inherited from; it adds nothing that changes.
    final let place: CodePlace

    init(_ place: CodePlace) { self.place = place }

    /// The hop to a context; nil for the immediate one, where the notifying thread just continues.
    @inlinable
    static func to<Context: ExecutionContext>(
        _ context: Context, _ fileID: StaticString, _ line: UInt
    ) -> ContextHop? {
        Context.self == ImmediateContext.self ? nil : ContextHopTo(context, fileID, line)
    }

    func execute(_ work: consuming @escaping Work) { fatalError("A subclass overrides this.") }

    /// Runs `target.arrive(with: source)` on the context, or calls `target.refuse`.
    fileprivate func hop(_ target: HoppingDerived, with source: FutureState) {
        fatalError("A subclass overrides this.")
    }

    var name: String { fatalError("A subclass overrides this.") }

    /// Whether the context can run no other job before the caller's has ended.
    var isKeptBusyByCaller: Bool { fatalError("A subclass overrides this.") }
}

@usableFromInline
final class ContextHopTo<Context: ExecutionContext>: ContextHop, @unchecked Sendable {
    // Unchecked because the superclass can be inherited from; the context never changes.
    private let context: Context

    @usableFromInline
    init(_ context: Context, _ fileID: StaticString, _ line: UInt) {
        self.context = context
        super.init(CodePlace(fileID, line))
    }

    override func execute(_ work: consuming @escaping Work) { context.execute(consume work) }

    override fileprivate func hop(_ target: HoppingDerived, with source: FutureState) {
        let (work, refused) = CompletionGuard.closures(
            for: Arrival(target: target, outcome: source, context: name, place: place))
        context.execute(consume work, refused: consume refused)
    }

    override var name: String { context.name }

    override var isKeptBusyByCaller: Bool { context.isKeptBusyByCaller }
}

/// The job of a hop. If the context refuses or drops it, it calls `refuse` of the target.
private struct Arrival: GuardedJob {
    // A variable because `isKnownUniquelyReferenced` takes one.
    var target: HoppingDerived
    let outcome: FutureState
    let context: String
    let place: CodePlace

    var source: JobSource { JobSource(place) }

    mutating func run() {
        if target.mayFollow {
            // Two statements: an assignment would retain the object before the check.
            let isAlone = isKnownUniquelyReferenced(&target)
            unsafe target.isUniquelyReferenced = isAlone
        }
        target.arrive(with: outcome)
    }

    func refuse(_ refusal: Refusal) { target.refuse(refusal) }

    func drop() { refuse(Refusal(.abandoned, by: context)) }
}

extension ExecutionContext {
    /// Whether it can run no other job before the caller's has ended, or the caller's hold.
    var isKeptBusyByCaller: Bool {
        var forecast = WaitForecast()
        forecast.mayTrap = false
        forecast.followUnlessHelped(self)
        return forecast.obstacle != nil
    }
}
