// Which subscribers count as interest in an `Async`. Callbacks and derived ones always do (law 26).
extension Async {
    /// Returns an `Async` with the same outcome; cancelling it does not cancel this one.
    public func shielded() -> Async {
        let shielded = Shielded()
        shielded.subscribe(to: state, FutureState.copy(Value.self))
        return Async(state: shielded)
    }

    /// Returns an `Async` with the same outcome for many callers, such as one in a cache.
    ///
    /// ```swift
    /// func image(of bird: Bird) -> Async<Data> {
    ///     if let known = images[bird] { return known }
    ///     let image = loader.image(of: bird).shared()
    ///     images[bird] = image
    ///     return image
    /// }
    /// ```
    ///
    /// Callers may cancel what they derive, set time limits or be cancelled while they await: the
    /// source continues. Only `cancel()` of the result cancels it, for all callers (law 26).
    public func shared() -> Async {
        let shared = Shared()
        shared.subscribe(to: state, FutureState.copy(Value.self))
        return Async(state: shared)
    }

    /// Returns a future whose first interested subscriber has `body` called on `context`, once.
    ///
    /// ```swift
    /// let names = Async.lazy { database.submit { try store.fetch(query) } }
    /// names.onSuccess(on: .main) { print($0) }
    /// ```
    ///
    /// It completes like the future that `body` returns. Callbacks, derived futures, and tasks and
    /// threads that wait are interested; a `tap` is not. If it is cancelled before it begins, it
    /// never does, and what `body` captured is freed at once (law 26).
    @_disfavoredOverload
    public static func lazy(
        on context: some ExecutionContext = .immediate,
        fileID: StaticString = #fileID, line: UInt = #line,
        _ body: @escaping @Sendable () throws -> Async
    ) -> Async {
        let lazy = Lazy(on: context) { lazy in
            lazy.hop(to: context, from: CodePlace(fileID, line)) {
                do { lazy.follow(try body()) } catch { lazy.complete(throwing: error) }
            }
        }
        return Async(state: lazy)
    }

    /// Calls `callback` with the outcome, once, on `context`, as a side effect, such as logging.
    ///
    /// It is like `onComplete(on:_:)`, in the same order, but no interest in the outcome: when the
    /// last interested subscriber leaves, it is called with `CancellationError` (law 26).
    @discardableResult
    @_disfavoredOverload
    public func tap<Context: ExecutionContext>(
        on context: Context = .immediate, fileID: StaticString = #fileID, line: UInt = #line,
        _ callback: @escaping @Sendable (Outcome) -> Void
    ) -> Self {
        guard state.isPending else {
            return onComplete(on: context, fileID: fileID, line: line, callback)
        }
        let body: Callback.Body = { state in callback(state.outcome()) }
        let isImmediate = Context.self == ImmediateContext.self
        let onlooker =
            isImmediate ? Callback(body) : HoppingCallback(on: context, fileID, line, body)
        onlooker.isOnlooker = true
        state.addOnlooker(onlooker)
        return self
    }
}

/// A state that stays in its source's queue when it is cancelled, and so keeps the source wanted.
private final class Shielded: FutureState, @unchecked Sendable {
    // Unchecked: it has no state of its own.
    override func cancel() -> Bool { complete(throwing: CancellationError()) }

    override var label: String { "a shielded value" }
}

/// A state that is not cancelled when its last subscriber leaves.
private final class Shared: FutureState, @unchecked Sendable {
    // Unchecked: it has no state of its own.
    override var cancelsWhenUnwanted: Bool { false }

    override var label: String { "a shared value" }
}

extension Async: CancellationHandle {
    public var isFinished: Bool { isCompleted }

    /// Lets a scope cancel this, at the latest when the scope is released; it does not keep this.
    @discardableResult
    public func stored(in scope: CancellationScope) -> Self {
        scope.store(WeakHandle(state: state))
        return self
    }
}

/// A future that its owner does not keep.
private final class WeakHandle: CancellationHandle, @unchecked Sendable {
    // Unchecked: a weak reference may be read by any thread, and is never assigned again.
    private weak var state: FutureState?

    init(state: FutureState) { self.state = state }

    func cancel() -> Bool { state?.cancel() ?? false }

    var isFinished: Bool { state?.isPending != true }
}

private final class Lazy: Timed, @unchecked Sendable {
    // Unchecked: the start is taken out while the state is locked and pending; afterwards the
    // thread that completed it owns it. It does not capture the state, which would keep itself.
    private var start: (@Sendable (Lazy) -> Void)?

    init(on context: some ExecutionContext, _ start: @escaping @Sendable (Lazy) -> Void) {
        self.start = start
        super.init("lazy", on: context)
        unsafe tag |= Self.beginsWithInterest
    }

    deinit { freeStart() }

    override func begin() {
        guard lockIfPending() else { return }
        let start = start.take()
        lock.unlock()
        start?(self)
    }

    override func didComplete() {
        freeStart()
        super.didComplete()
    }

    /// The captures may be the last reference to the next lazy future, and so on.
    private func freeStart() {
        if start != nil { Freeing.free(start.take()) }
    }
}
