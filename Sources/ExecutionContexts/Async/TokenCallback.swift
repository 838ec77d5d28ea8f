internal import Synchronization

/// A callback for as long as a token is valid; then it leaves, and its captures are freed.
final class TokenCallback: FutureSubscriber, TokenWatcher, @unchecked Sendable {
    // Unchecked: the thread that consumes the body owns it. Of the rest only the weak reference
    // changes, and the runtime does that.
    private var body: Callback.Body?
    private let hop: ContextHop?
    private let token: InvalidationToken
    /// Weak, because the source's queue owns this, and because the token may outlive the source.
    private weak var source: FutureState?
    private let isConsumed = Atomic<Bool>(false)

    init(
        _ hop: ContextHop?, for source: FutureState, while token: InvalidationToken,
        _ body: @escaping Callback.Body
    ) {
        self.hop = hop
        self.source = source
        self.token = token
        self.body = body
        super.init()
    }

    /// Registers with the token and subscribes to the source.
    func subscribe(to source: FutureState) {
        guard token.add(self) else { return source.cancelIfUnwanted() }
        source.addSubscriber(self)
        // The token was invalidated in between, when this was in no queue yet.
        if !token.isValid { source.unsubscribe(self) }
    }

    override func notify(by source: FutureState) {
        guard let hop else { return call(source) }
        hop.execute(
            CompletionGuard.work(for: Call(callback: self, outcome: source, place: hop.place)))
    }

    /// The callback will never be called; its captures are freed with it.
    override func sourceDeinitialized(_ source: UnsafeRawPointer) {
        if consumeBody() { token.remove(self) }
    }

    private func call(_ source: FutureState) {
        guard consumeBody() else { return }
        token.remove(self)
        let body = body.take()
        // Checked here, on the context: a token invalidated on this very context before prevents
        // the call (law 25).
        if token.isValid { body?(source) }
    }

    func tokenWasInvalidated() {
        if consumeBody() { BoundedNesting.free(body.take()) }
        source?.unsubscribe(self)
    }

    /// The context has dropped the job, so the token need not refer to this any more.
    private func wasDropped() {
        guard consumeBody() else { return }
        token.remove(self)
        BoundedNesting.free(body.take())
    }

    /// The job that calls back.
    private struct Call: GuardedJob {
        let callback: TokenCallback
        let outcome: FutureState
        let place: CodePlace

        var source: JobSource { JobSource(place) }

        func run() { callback.call(outcome) }

        func drop() { callback.wasDropped() }
    }

    // Acquiring and releasing: the thread that consumes the body sees all of it, and no other
    // thread accesses it.
    private func consumeBody() -> Bool {
        SimulationHooks.point()
        return !isConsumed.exchange(true, ordering: .acquiringAndReleasing)
    }

    override var label: String { "a callback on '\(hop?.name ?? "immediate")' with a token" }
}
