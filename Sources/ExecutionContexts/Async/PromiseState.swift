/// The future state of a promise: knows its source location, and the handlers of its cancellation.
@usableFromInline
@safe final class PromiseState: FutureState, @unchecked Sendable {
    // Unchecked: the handlers and the marks change while the state is locked and pending;
    // afterwards the thread that completed it owns them. The location never changes.
    private let location: CodeLocation
    @exclusivity(unchecked) private var wasCancelled = false
    /// Whether another `Async` completes it, so that the promise may be released.
    @exclusivity(unchecked) private var follows = false
    /// The handlers of cancellation: one reference, released when this completes or is freed.
    @exclusivity(unchecked) private var handlers: Unmanaged<Handlers>?

    private final class Handlers {
        var all: [Work] = []
        /// The state that it follows. Weak, because that state's queue owns this one.
        weak var followed: FutureState?
    }

    @usableFromInline
    init(location: CodeLocation) {
        self.location = location
        super.init()
    }

    // A promise that follows another one may be freed while pending.
    deinit {
        if unsafe handlers != nil { BoundedNesting.free(takeHandlers()) }
    }

    func onCancel(_ body: @escaping Work) {
        if lockIfPending() {
            withHandlers { $0.all.append(body) }
            unlock()
        } else if unsafe wasCancelled {
            BoundedNesting.call([body])
        }
    }

    override func cancel() -> Bool {
        guard let completion = beginCompletion() else { return false }
        fail(CancellationError())
        unsafe wasCancelled = true
        let handlers = takeHandlers()?.all ?? []
        finishCompletionAndUnsubscribe(completion)
        if !handlers.isEmpty { BoundedNesting.call(consume handlers) }
        return true
    }

    override func didComplete() {
        // If it was completed by hand, it leaves the state that it followed.
        if let followed = takeHandlers()?.followed, followed.isPending {
            followed.unsubscribe(self)
        }
    }

    /// For a state that is locked and pending.
    private func withHandlers(_ body: (Handlers) -> Void) {
        if unsafe handlers == nil {
            unsafe handlers = Unmanaged.passRetained(Handlers())
            unsafe tag |= Self.holdsUntilCompletion
        }
        unsafe handlers?._withUnsafeGuaranteedRef(body)
    }

    private func takeHandlers() -> Handlers? { unsafe handlers.take()?.takeRetainedValue() }

    /// Completes it with an error, because the promise was released; unless it follows another one.
    @usableFromInline
    func abandon() {
        if unsafe follows { return }
        complete(throwing: AsyncError.abandoned(promise: location.description))
    }

    /// Follows another state; false if this one has completed, or follows one already.
    @usableFromInline
    func tryFollow(_ other: FutureState, _ copy: @escaping Propagation) -> Bool {
        guard beginToFollow(other) else {
            other.cancelIfUnwanted()
            return false
        }
        follow(other, copy)
        return true
    }

    private func beginToFollow(_ other: FutureState) -> Bool {
        guard lockIfPending() else { return false }
        defer { unlock() }
        if unsafe follows { return false }
        unsafe follows = true
        withHandlers { $0.followed = other }
        return true
    }

    /// False: when it completes otherwise, it must unsubscribe from `followed`.
    override var isMovable: Bool { false }

    override var label: String { "promise made at \(location)" }
}
