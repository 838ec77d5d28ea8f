internal import Synchronization

// Who is interested in an `Async`, beyond the callbacks and the derived ones, which all are (law 26).
extension Async {
    /// The same outcome, but cancelling this leaves the source to go on.
    public func shielded() -> Async {
        let shielded = Shielded()
        shielded.wait(for: cell) { source, shielded in shielded.end(like: source, Value.self) }
        return Async(cell: shielded)
    }

    /// The same outcome for many callers: nothing that is derived from the result cancels it.
    ///
    /// Take it for an `Async` that later callers will ask for, such as one in a cache:
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
    /// A caller may cancel what it derives, set a time limit or be cancelled while it awaits: the source goes on, also
    /// when the last of them has left. Only `cancel()` of the result itself ends it for all callers (law 26).
    public func shared() -> Async {
        let shared = Shared()
        shared.wait(for: cell) { source, shared in shared.end(like: source, Value.self) }
        return Async(cell: shared)
    }

    /// Calls `callback` with the outcome, once, on `context`, as a side effect: it is no interest in the outcome.
    ///
    /// It is `onComplete(on:_:)`, in the same order, except that it neither keeps the `Async` from being cancelled nor has
    /// it cancelled: when the last interested subscriber leaves, the `Async` is cancelled and the callback is
    /// called with `CancellationError` (law 26). Take it for logging, counting and caching. Returns its receiver.
    @discardableResult
    @_disfavoredOverload
    public func tap(
        on context: some ExecutionContext = .immediate, _ callback: @escaping @Sendable (Outcome) -> Void
    ) -> Self {
        guard cell.isPending else { return onComplete(on: context, callback) }
        cell.join(onlooker: Onlooker(Hop.to(context)) { cell in callback(cell.outcome()) })
        return self
    }

    /// Calls a closure of the main actor with the outcome, once, on the main queue, as a side effect (law 26).
    @discardableResult
    public func tap(
        on context: MainContext, _ callback: @escaping @MainActor @Sendable (Outcome) -> Void
    ) -> Self {
        tap(on: context.general) { outcome in MainActor.assumeIsolated { callback(outcome) } }
    }
}

/// A cell that stays in the line of its source when it is cancelled, so that the source is wanted.
private final class Shielded: AsyncCell, @unchecked Sendable {
    // Unchecked: it has no state of its own.
    override func cancel() -> Bool { end(throwing: CancellationError()) }

    override var label: String { "a shielded value" }
}

/// A cell that goes on when its last subscriber has left.
private final class Shared: AsyncCell, @unchecked Sendable {
    // Unchecked: it has no state of its own.
    override var endsUnwanted: Bool { false }

    override var label: String { "a shared value" }
}

/// A callback that is no interest in the outcome.
private final class Onlooker: Party, @unchecked Sendable {
    // Unchecked: the hop never changes; the closure is taken out, once, by whoever claims it.
    private let hop: Hop?
    private var body: Callback.Body?
    private let isClaimed = Atomic<Bool>(false)

    init(_ hop: Hop?, _ body: @escaping Callback.Body) {
        self.hop = hop
        self.body = body
        super.init()
        isOnlooker = true
    }

    override func tell(by cell: AsyncCell) {
        guard let hop else { return call(cell) }
        hop.execute { self.call(cell) }
    }

    // Relaxed: a context that runs a job twice has got all of this before either time.
    private func call(_ cell: AsyncCell) {
        guard !isClaimed.exchange(true, ordering: .relaxed) else { return }
        body.take()?(cell)
    }

    override var label: String { "a side effect on '\(hop?.name ?? "immediate")'" }
}
