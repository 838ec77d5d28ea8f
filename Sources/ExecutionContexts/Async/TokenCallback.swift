internal import Synchronization

/// A callback that is wanted as long as a token is valid; then it leaves, and what it captured goes.
final class TokenCallback: Party, TokenWatcher, @unchecked Sendable {
    // Unchecked: the body belongs to whoever claims it; the rest never changes.
    private var body: Callback.Body?
    private let hop: Hop?
    private let token: InvalidationToken
    private let cell: AsyncCell
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
    func wait() {
        guard token.add(self) else { return }
        cell.join(self)
        // Invalidated in between, when it stood in no line yet.
        if !token.isValid { cell.leave(self) }
    }

    override func tell(by cell: AsyncCell) {
        guard let hop else { return call() }
        hop.execute { self.call() }
    }

    private func call() {
        guard claim() else { return }
        token.remove(self)
        let body = body.take()
        // Asked here, on the context: invalidated before on this very context, it is not called (law 25).
        if token.isValid { body?(cell) }
    }

    func tokenWasInvalidated() {
        if claim() { body = nil }
        cell.leave(self)
    }

    // Acquiring and releasing: who claims the body sees it whole, and no other touches it.
    private func claim() -> Bool { !isClaimed.exchange(true, ordering: .acquiringAndReleasing) }

    override var label: String { "a callback on '\(hop?.name ?? "immediate")' with a token" }
}
