/// The cell of a promise: it knows where it was made, and whom to tell that it is not wanted any more.
@usableFromInline
@safe final class PromiseCell: AsyncCell, @unchecked Sendable {
    // Unchecked: the handlers and the marks change while the cell is locked and pending; afterwards they belong to
    // whoever ended it. The origin never changes.
    private let origin: Origin
    @exclusivity(unchecked) private var wasCancelled = false
    /// Whether another `Async` completes it, so that the promise is needed no more.
    @exclusivity(unchecked) private var follows = false
    /// What to do when it is cancelled; one reference, given back when it ends or is freed.
    @exclusivity(unchecked) private var handlers: Unmanaged<Handlers>?

    private final class Handlers {
        var all: [Work] = []
        /// What it follows. Not counted, since that counts this one.
        weak var followed: AsyncCell?
    }

    @usableFromInline
    init(origin: Origin) {
        self.origin = origin
        super.init()
    }

    // One that follows another one may be freed before it has ended.
    deinit {
        if unsafe handlers != nil { Delivery.free(takeHandlers()) }
    }

    func onCancel(_ body: @escaping Work) {
        if lockIfPending() {
            withHandlers { $0.all.append(body) }
            unlock()
        } else if unsafe wasCancelled {
            Delivery.call([body])
        }
    }

    override func cancel() -> Bool {
        guard let ending = beginEnd() else { return false }
        fail(CancellationError())
        unsafe wasCancelled = true
        let handlers = takeHandlers()?.all ?? []
        finishLeaving(ending)
        if !handlers.isEmpty { Delivery.call(consume handlers) }
        return true
    }

    override func didEnd() {
        // Completed by hand, it wants nothing of what it followed.
        if let followed = takeHandlers()?.followed, followed.isPending { followed.leave(self) }
    }

    /// For a cell that is locked and pending.
    private func withHandlers(_ body: (Handlers) -> Void) {
        if unsafe handlers == nil {
            unsafe handlers = Unmanaged.passRetained(Handlers())
            unsafe tag |= Self.holdsUntilEnd
        }
        unsafe handlers?._withUnsafeGuaranteedRef(body)
    }

    private func takeHandlers() -> Handlers? { unsafe handlers.take()?.takeRetainedValue() }

    /// The promise is gone: nobody will complete it.
    @usableFromInline
    func abandon() {
        if unsafe follows { return }
        end(throwing: AsyncError.abandoned(promise: origin.description))
    }

    /// Follows another one; false if this one has ended, or follows one already.
    @usableFromInline
    func complete(like other: AsyncCell, _ copy: @escaping Step) -> Bool {
        guard beginToFollow(other) else {
            other.cancelIfUnwanted()
            return false
        }
        follow(other, copy)
        return true
    }

    private func beginToFollow(_ other: AsyncCell) -> Bool {
        guard lockIfPending() else { return false }
        defer { unlock() }
        if unsafe follows { return false }
        unsafe follows = true
        withHandlers { $0.followed = other }
        return true
    }

    /// When it ends otherwise, it must leave the one that it knows as followed.
    override var isMovable: Bool { false }

    override var label: String { "promise made at \(origin)" }
}
