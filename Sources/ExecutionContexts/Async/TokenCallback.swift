internal import Synchronization

/// A callback that is wanted as long as a token is valid; then it leaves, and what it captured goes.
final class TokenCallback: Party, TokenWatcher, @unchecked Sendable {
    // Unchecked: the body belongs to whoever claims it; the rest never changes but the weak reference, by the runtime.
    private var body: Callback.Body?
    private let hop: Hop?
    private let token: InvalidationToken
    /// Not counted, since that counts this one; weak, since the token may outlive it.
    private weak var cell: AsyncCell?
    private let isClaimed = Atomic<Bool>(false)

    init(
        _ hop: Hop?, for cell: AsyncCell, while token: InvalidationToken, _ body: @escaping Callback.Body
    ) {
        self.hop = hop
        self.cell = cell
        self.token = token
        self.body = body
        super.init()
    }

    /// Waits to be told, or for the token.
    func wait(for cell: AsyncCell) {
        guard token.add(self) else { return cell.cancelIfUnwanted() }
        cell.join(self)
        // Invalidated in between, when it stood in no line yet.
        if !token.isValid { cell.leave(self) }
    }

    override func tell(by cell: AsyncCell) {
        guard let hop else { return call(cell) }
        let turn = Turn(self)
        hop.execute { turn.callback.call(cell) }
    }

    /// It will not be told; what it captured goes with it.
    override func sourceIsGone(_ source: UnsafeRawPointer) {
        if claim() { token.remove(self) }
    }

    private func call(_ cell: AsyncCell) {
        guard claim() else { return }
        token.remove(self)
        let body = body.take()
        // Asked here, on the context: invalidated before on this very context, it is not called (law 25).
        if token.isValid { body?(cell) }
    }

    func tokenWasInvalidated() {
        if claim() { Delivery.free(body.take()) }
        cell?.leave(self)
    }

    /// The context has let go of it: the token need not know it any more.
    private func wasLost() {
        guard claim() else { return }
        token.remove(self)
        Delivery.free(body.take())
    }

    /// What the context gets.
    private final class Turn: Sendable {
        let callback: TokenCallback
        init(_ callback: TokenCallback) { self.callback = callback }
        // After a call the matter is over and this does nothing.
        deinit { callback.wasLost() }
    }

    // Acquiring and releasing: who claims the body sees it whole, and no other touches it.
    private func claim() -> Bool {
        Seam.point()
        return !isClaimed.exchange(true, ordering: .acquiringAndReleasing)
    }

    override var label: String { "a callback on '\(hop?.name ?? "immediate")' with a token" }
}
