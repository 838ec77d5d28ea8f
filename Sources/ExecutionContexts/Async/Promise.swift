/// The writing side of an `Async`: its owner completes the `Async`, once.
///
/// ```swift
/// func getBirds() -> Async<[Bird]> {
///     let promise = Promise<[Bird]>()
///     loader.load("birds.json") { data in promise.complete(with: { try Bird.list(from: data) }) }
///     return promise.async
/// }
/// ```
///
/// A promise that is released before it was completed completes its `Async` with
/// ``AsyncError/abandoned(promise:)`` (law 26).
@_fixed_layout
public final class Promise<Value: Sendable>: Sendable {
    /// The `Async` that this completes.
    @inlinable
    public var async: Async<Value> { Async(state: state) }

    @usableFromInline let state: PromiseState

    /// Makes a promise; errors and descriptions name its source location.
    @inlinable
    public init(fileID: StaticString = #fileID, line: UInt = #line) {
        state = PromiseState(location: CodePlace(fileID, line))
    }

    /// For a caller in the library, which passes its own caller's place.
    package init(at place: CodePlace) { state = PromiseState(location: place) }

    @inlinable
    deinit {
        if state.isPending { state.abandon() }
    }

    /// Completes it with a value; false, and no effect, if it had completed before (law 24).
    @inlinable
    @discardableResult
    public func succeed(_ value: Value) -> Bool { state.complete(with: value) }

    /// Completes it with an error; false, and no effect, if it had completed before (law 24).
    @inlinable
    @discardableResult
    public func fail(_ error: any Error) -> Bool { state.complete(throwing: error) }

    /// Completes it with an outcome; false, and no effect, if it had completed before (law 24).
    @inlinable
    @discardableResult
    public func complete(_ outcome: Result<Value, any Error>) -> Bool {
        state.complete(with: outcome)
    }

    /// Completes it with what `body` returns or throws; false if it had completed before (law 24).
    ///
    /// The body runs in either case.
    @inlinable
    @discardableResult
    public func complete(with body: () throws -> Value) -> Bool {
        state.complete(with: Result(catching: body))
    }

    /// Completes it like `other`; false if it had completed, or follows one already (law 24).
    ///
    /// It may still be completed by hand or cancelled, and then leaves the other one.
    @inlinable
    @discardableResult
    public func follow(_ other: Async<Value>) -> Bool {
        state.tryFollow(other.state, FutureState.copy(Value.self))
    }

    /// Runs `body` once, if the `Async` is cancelled or has been; never after another outcome.
    ///
    /// By then the `Async` has completed with `CancellationError`. The body runs on the thread that
    /// cancels, before the cancelling call returns, and is freed once it cannot be called any more.
    /// Bodies that cancel nest 32 deep; from there on, the inner call returns first (law 25).
    public func onCancel(_ body: @escaping Work) { state.onCancel(body) }
}

extension Promise where Value == Void {
    /// Completes it; false, and no effect, if it had completed before (law 24).
    @inlinable
    @discardableResult
    public func succeed() -> Bool { succeed(()) }
}

@usableFromInline
@safe final class PromiseState: FutureState, @unchecked Sendable {
    // Unchecked: the handlers and the marks change while the state is locked and pending;
    // afterwards the thread that completed it owns them. The location never changes.
    private let location: CodePlace
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
    init(location: CodePlace) {
        self.location = location
        super.init()
    }

    // A promise that follows another one may be freed while pending.
    deinit {
        if unsafe handlers != nil { Freeing.free(takeHandlers()) }
    }

    func onCancel(_ body: @escaping Work) {
        if lockIfPending() {
            withHandlers { $0.all.append(body) }
            lock.unlock()
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
        complete(throwing: AsyncError.abandoned(promise: location.call))
    }

    /// Follows another state; false if this one has completed, or follows one already.
    @usableFromInline
    func tryFollow(_ other: FutureState, _ copy: @escaping Propagation) -> Bool {
        let begins = whilePending { () -> Bool in
            if unsafe follows { return false }
            unsafe follows = true
            withHandlers { $0.followed = other }
            return true
        }
        guard begins == true else {
            other.cancelIfUnwanted()
            return false
        }
        follow(other, copy)
        return true
    }

    /// False: when it completes otherwise, it must unsubscribe from `followed`.
    override var isMovable: Bool { false }

    override var label: String { "promise made at \(location.call)" }
}
