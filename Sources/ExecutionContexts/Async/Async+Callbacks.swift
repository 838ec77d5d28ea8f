extension Async {
    /// Calls `callback` with the outcome, once, on `context`, as long as `token` is valid (law 25).
    ///
    /// Callbacks on one context are submitted in the order of registration, also those registered
    /// inside a callback. On `.immediate`, the default, the thread that completes the `Async` calls
    /// them before the completing call returns; if it has completed, the registering thread does.
    /// While other subscribers are notified, the order wins: the callback comes after them, and the
    /// registering call may return before. So it does for callbacks nested more than 32 deep: a
    /// chain of any length neither overflows the stack nor changes thread.
    ///
    /// Once the token is invalidated on the context, a serial one, the callback is not called. Its
    /// captures are freed, and the `Async` is cancelled if no one else is interested (law 26).
    @inlinable
    @discardableResult
    @_disfavoredOverload
    public func onComplete<Context: ExecutionContext>(
        on context: Context = .immediate, while token: InvalidationToken? = nil,
        fileID: StaticString = #fileID, line: UInt = #line,
        _ callback: @escaping @Sendable (Outcome) -> Void
    ) -> Self {
        if let token {
            addSubscriber(ContextHop.to(context, fileID, line), while: token) { state in
                callback(state.outcome())
            }
            return self
        }
        // Counted for every context: one that runs jobs on the caller nests them. A caller's
        // deadline is left to `notifyAll`.
        if state.hasNotified, !Deadline.isSet, BoundedNesting.descend() {
            if Context.self == ImmediateContext.self {
                callback(state.outcome())
            } else {
                let job: Work = { [state] in callback(state.outcome()) }
                context.execute(JobSource.carry(fileID, line, job))
            }
            BoundedNesting.ascend()
            return self
        }
        if Context.self == ImmediateContext.self {
            state.addSubscriber { state in callback(state.outcome()) }
        } else {
            state.addSubscriber(
                HoppingCallback(on: context, fileID, line) { state in callback(state.outcome()) })
        }
        return self
    }

    /// Calls `callback` with the value, once, if it comes and `token` is valid (law 25).
    @inlinable
    @discardableResult
    @_disfavoredOverload
    public func onSuccess(
        on context: some ExecutionContext = .immediate, while token: InvalidationToken? = nil,
        fileID: StaticString = #fileID, line: UInt = #line,
        _ callback: @escaping @Sendable (Value) -> Void
    ) -> Self {
        onComplete(on: context, while: token, fileID: fileID, line: line) { outcome in
            if case .success(let value) = outcome { callback(value) }
        }
    }

    /// Calls `callback` with the error, once, if it comes and `token` is valid (law 25).
    @inlinable
    @discardableResult
    @_disfavoredOverload
    public func onFailure(
        on context: some ExecutionContext = .immediate, while token: InvalidationToken? = nil,
        fileID: StaticString = #fileID, line: UInt = #line,
        _ callback: @escaping @Sendable (any Error) -> Void
    ) -> Self {
        onComplete(on: context, while: token, fileID: fileID, line: line) { outcome in
            if case .failure(let error) = outcome { callback(error) }
        }
    }

    @usableFromInline
    func addSubscriber(
        _ hop: ContextHop?, while token: InvalidationToken, _ body: @escaping Callback.Body
    ) {
        TokenCallback(hop, for: state, while: token, body).subscribe(to: state)
    }
}

/// A closure of the user that the notifying thread calls with the outcome.
@usableFromInline
class Callback: FutureSubscriber, @unchecked Sendable {
    // Unchecked: the closure is taken out once, by the thread that is to call it.

    /// The closure's maker knows the value type.
    @usableFromInline typealias Body = @Sendable (FutureState) -> Void

    /// Boxes the closure in a struct: generic code returns a bare closure wrapped in a thunk.
    struct Boxed { let body: Body }

    @usableFromInline
    @exclusivity(unchecked) final var body: Body?

    @usableFromInline
    init(_ body: @escaping Body) {
        unsafe self.body = body
        super.init()
    }

    override func notify(by source: FutureState) { unsafe body.take()?(source) }

    override var label: String { "\(kind) on 'immediate'" }

    fileprivate final var kind: String { isOnlooker ? "a side effect" : "a callback" }

    static let label = "a callback on 'immediate'"
}

/// A closure of the user that is called on a context.
@usableFromInline
final class HoppingCallback<Context: ExecutionContext>: Callback, @unchecked Sendable {
    // Unchecked: the notifying thread writes the source before the context gets the job.
    @usableFromInline let context: Context
    private let place: CodePlace
    @exclusivity(unchecked) private var source: FutureState?
    private let arrival = Decision()

    @usableFromInline
    init(
        on context: Context, _ fileID: StaticString, _ line: UInt, _ body: @escaping Body
    ) {
        self.context = context
        place = CodePlace(fileID, line)
        super.init(body)
    }

    override func notify(by source: FutureState) {
        unsafe self.source = source
        // Captures nothing but this object, so the closure needs no allocation.
        context.execute(JobSource.carry(JobSource(place), { self.arrive() }))
    }

    private func arrive() {
        if arrival.make(), let source = unsafe source.take() { super.notify(by: source) }
    }

    override var label: String { "\(kind) on '\(context.name)'" }
}

/// A callback for as long as a token is valid; then it leaves, and its captures are freed.
private final class TokenCallback: FutureSubscriber, TokenWatcher, @unchecked Sendable {
    // Unchecked: the thread that consumes the body owns it. The runtime changes the weak reference.
    private var body: Callback.Body?
    private let hop: ContextHop?
    private let token: InvalidationToken
    /// Weak, because the source's queue owns this, and because the token may outlive the source.
    private weak var source: FutureState?
    private let consumption = Decision()

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
        if consumption.make() { token.remove(self) }
    }

    private func call(_ source: FutureState) {
        guard consumption.make() else { return }
        token.remove(self)
        let body = body.take()
        // Checked here: one that was invalidated on this very context prevents the call (law 25).
        if token.isValid { body?(source) }
    }

    func tokenWasInvalidated() {
        if consumption.make() { Freeing.free(body.take()) }
        source?.unsubscribe(self)
    }

    /// The context has dropped the job, so the token need not refer to this any more.
    private func wasDropped() {
        guard consumption.make() else { return }
        token.remove(self)
        Freeing.free(body.take())
    }

    private struct Call: GuardedJob {
        let callback: TokenCallback
        let outcome: FutureState
        let place: CodePlace

        var source: JobSource { JobSource(place) }

        func run() { callback.call(outcome) }

        func drop() { callback.wasDropped() }
    }

    override var label: String { "a callback on '\(hop?.name ?? "immediate")' with a token" }
}
