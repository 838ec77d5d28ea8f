internal import CPlatform
internal import Synchronization

/// How far a wrapped handler has come.
///
/// | state | next | by |
/// |---|---|---|
/// | `waiting` | `called` | the first call, unless the context is `.immediate` |
/// | `waiting` | `over` | the first call on `.immediate`, or the release without a call |
/// | `called` | `over` | the run on the context, or its refusal, or the drop of the job |
private enum State: UInt8, AtomicRepresentable { case waiting, called, over }

/// The state of a wrapped handler with any arguments: it runs once on its context, or is reported.
@usableFromInline
class CallbackCore: @unchecked Sendable {
    // Unchecked: `boundValues` belongs to the caller that moves `state` from waiting. The handler,
    // a property of the subclass, belongs to the thread that moves `state` to over. The rest is
    // constant.

    /// What a caller of the wrapped handler has to do.
    @usableFromInline
    enum Action {
        case nothing, here, submit
    }

    private let state = Atomic<State>(.waiting)
    /// Whether the context is `.immediate`, so that nothing is kept for later.
    private let runsHere: Bool
    private let context: any ExecutionContext
    private var onFault: (@Sendable (CallbackFault) -> Void)?
    fileprivate let location: CodePlace
    /// The values that the context binds where the handler is wrapped, for where it runs.
    private var boundValues: BoundValues?

    @usableFromInline
    init(
        on context: any ExecutionContext, _ fileID: StaticString, _ line: UInt,
        _ onFault: @escaping @Sendable (CallbackFault) -> Void
    ) {
        self.context = context
        self.onFault = onFault
        location = CodePlace(fileID, line)
        runsHere = type(of: context) == ImmediateContext.self
        boundValues = context.submissionTransform.map(BoundValues.init)
    }

    /// Releases the handler.
    func discard() { fatalError("A subclass of CallbackCore must override discard().") }

    /// Decides what this call of the wrapped handler does; every call starts with it.
    @usableFromInline
    final func begin() -> Action {
        let isFirst = transition(from: .waiting, to: runsHere ? .over : .called)
        guard isFirst else {
            report(.calledAgain)
            return .nothing
        }
        return runsHere ? .here : .submit
    }

    /// Submits `work`, which takes the handler and calls it; only the first caller does.
    @usableFromInline
    final func send(_ work: @escaping Work) {
        let call = CompletionGuard(HandlerCall(core: self, work: work))
        var job = call.work
        if let boundValues {
            self.boundValues = nil
            job = JobSource.carry(JobSource(location), boundValues.bind(job))
        }
        context.execute(job, refused: { call.refuse($0) })
    }

    // Captures of the closure, as of the handler, may hold the last reference to another callback.
    deinit { Freeing.free(onFault.take()) }

    /// Called by `deinit` of the subclass, which gives its handler away.
    final func wasReleased<Handler: Sendable>(with handler: consuming Handler?) {
        guard transition(from: .waiting, to: .over) else { return }
        let fault = CallbackFault(
            .neverCalled, context: context.name, sourceLocation: location.call)
        Freeing.free(consume handler)
        if let onFault { BoundedNesting.call([{ onFault(fault) }]) }
    }

    fileprivate final func beginRun() -> Bool { transition(from: .called, to: .over) }

    fileprivate final func wasRefused(_ reason: Refusal.Reason) {
        guard transition(from: .called, to: .over) else { return }
        discard()
        report(.refused(reason))
    }

    private func report(_ reason: CallbackFault.Reason) {
        onFault?(CallbackFault(reason, context: context.name, sourceLocation: location.call))
    }

    // Acquiring and releasing: the thread that takes the handler sees the writes of the wrapping
    // thread.
    private func transition(from old: State, to new: State) -> Bool {
        SimulationHooks.point()
        return state.compareExchange(expected: old, desired: new, ordering: .acquiringAndReleasing)
            .exchanged
    }
}

/// The job that calls the handler.
private struct HandlerCall: GuardedJob {
    let core: CallbackCore
    var work: Work?

    var source: JobSource { JobSource(core.location) }

    mutating func run() {
        guard core.beginRun() else { return }
        let work = work.take()!
        work()
    }

    func refuse(_ refusal: Refusal) { core.wasRefused(refusal.reason) }

    func drop() { core.wasRefused(.abandoned) }
}

/// What a context binds to a job, taken before there is a job: the wrapping task's task-locals.
private final class BoundValues: Sendable {
    private final class Box: @unchecked Sendable {
        // Unchecked: written by the first caller before the context gets the job, then only read.
        var job: Work?
    }

    private let box: Box
    private let bound: Work

    init(_ binding: @Sendable (_ work: @escaping Work) -> Work) {
        let box = Box()
        self.box = box
        bound = binding { box.job?() }
    }

    /// Returns `job` with the bound values; to be called once.
    func bind(_ job: @escaping Work) -> Work {
        box.job = job
        return bound
    }
}

/// A wrapped handler that waits for its call; the closure that `callback` returns retains it.
///
/// The handler stays here until the context runs it: a caller that retained it as well might
/// release it last (law 10).
@usableFromInline
@_fixed_layout
final class CallbackState<Handler: Sendable>: CallbackCore, @unchecked Sendable {
    // Unchecked for the reasons given in CallbackCore, which says which thread takes the handler.
    @usableFromInline
    var handler: Handler?

    @inlinable
    init(
        _ handler: Handler, on context: any ExecutionContext, _ fileID: StaticString, _ line: UInt,
        _ onFault: @escaping @Sendable (CallbackFault) -> Void
    ) {
        self.handler = handler
        super.init(on: context, fileID, line, onFault)
    }

    deinit { wasReleased(with: handler.take()) }

    /// Returns the handler, to the one thread that calls it.
    @inlinable
    func take() -> Handler {
        // Not `take()`: a generic function of another module would look its type up at run time.
        let taken = handler!
        handler = nil
        return taken
    }

    override func discard() { handler = nil }
}

/// A fault of a completion handler that `callback` or `fromCallback` made.
///
/// The mistake is seldom in the code that made the handler: a function called it twice or never, or
/// a context dropped its job. So a fault is reported, and does not trap.
public struct CallbackFault: Error, Hashable, Sendable, CustomStringConvertible {
    /// How the handler was misused, or why it did not run.
    public enum Reason: Hashable, Sendable {
        /// The handler was called again. Only the first call counts.
        case calledAgain
        /// The handler was released without a call. It will not run.
        case neverCalled
        /// The handler was called, and its context refused or dropped its job. It did not run.
        case refused(Refusal.Reason)
    }

    /// What happened to the handler.
    public let reason: Reason
    /// The name of the context that the handler was to run on; nil if it completes an `Async`.
    public let context: String?
    /// The source location that made the handler, as file and line.
    public let sourceLocation: String

    init(_ reason: Reason, context: String?, sourceLocation: String) {
        self.reason = reason
        self.context = context
        self.sourceLocation = sourceLocation
    }

    public var description: String {
        switch reason {
        case .calledAgain:
            "\(subject) was called again, which did nothing: the first call counts (law 24). The code that takes it "
                + "must call it once."
        case .neverCalled:
            "\(subject) was never called before its release (law 25): its handler will not run. The code that takes "
                + "it must call it once, on every path."
        case .refused(let reason):
            "The handler of a callback did not run. "
                + Refusal(reason, by: context ?? "its context", sourceLocation: sourceLocation)
                .description
        }
    }

    private var subject: String {
        guard let context else { return "The completion handler made at \(sourceLocation)" }
        return "The callback wrapped at \(sourceLocation) for '\(context)'"
    }

    /// Writes the description to standard error, as one line.
    ///
    /// This is what `onFault` does by default. It ignores a handler that did not run because its
    /// token was invalidated: that is what the token is for.
    public func report() {
        if reason == .refused(.invalidated) { return }
        // One write, so that the lines of several threads do not mix. Without standard error it is
        // lost.
        var line = "ExecutionContexts: \(description)\n"
        line.withUTF8 { unsafe ec_write_error($0.baseAddress, $0.count) }
    }
}

// - Inlinable, so that the types of the arguments are known where `callback` is called: a look-up
//   of a generic class at run time costs more than the allocation.
// - The context is `any`: no code is specialized for the type of a context that is not known.
// - Structs: a generic class would call a bare closure through a thunk, with another allocation.

/// A handler without arguments.
@usableFromInline
@frozen
struct Handler0: Sendable {
    @usableFromInline let call: @Sendable () -> Void

    @inlinable
    init(_ call: @escaping @Sendable () -> Void) { self.call = call }

    /// Returns the handler that runs this one on a context.
    @inlinable
    func wrapped(
        for context: any ExecutionContext, _ fileID: StaticString, _ line: UInt,
        _ onFault: @escaping @Sendable (CallbackFault) -> Void
    ) -> @Sendable () -> Void {
        let callback = CallbackState(self, on: context, fileID, line, onFault)
        return {
            switch callback.begin() {
            case .nothing: break
            case .here: callback.take().call()
            case .submit: callback.send { callback.take().call() }
            }
        }
    }
}

/// A handler with one argument.
@usableFromInline
@frozen
struct Handler1<First: Sendable>: Sendable {
    @usableFromInline let call: @Sendable (First) -> Void

    @inlinable
    init(_ call: @escaping @Sendable (First) -> Void) { self.call = call }

    /// Returns the handler that runs this one on a context.
    @inlinable
    func wrapped(
        for context: any ExecutionContext, _ fileID: StaticString, _ line: UInt,
        _ onFault: @escaping @Sendable (CallbackFault) -> Void
    ) -> @Sendable (First) -> Void {
        let callback = CallbackState(self, on: context, fileID, line, onFault)
        return { first in
            switch callback.begin() {
            case .nothing: break
            case .here: callback.take().call(first)
            case .submit: callback.send { callback.take().call(first) }
            }
        }
    }
}

/// A handler with two arguments.
@usableFromInline
@frozen
struct Handler2<First: Sendable, Second: Sendable>: Sendable {
    @usableFromInline let call: @Sendable (First, Second) -> Void

    @inlinable
    init(_ call: @escaping @Sendable (First, Second) -> Void) { self.call = call }

    /// Returns the handler that runs this one on a context.
    @inlinable
    func wrapped(
        for context: any ExecutionContext, _ fileID: StaticString, _ line: UInt,
        _ onFault: @escaping @Sendable (CallbackFault) -> Void
    ) -> @Sendable (First, Second) -> Void {
        let callback = CallbackState(self, on: context, fileID, line, onFault)
        return { first, second in
            switch callback.begin() {
            case .nothing: break
            case .here: callback.take().call(first, second)
            case .submit: callback.send { callback.take().call(first, second) }
            }
        }
    }
}

/// A handler with three arguments.
@usableFromInline
@frozen
struct Handler3<First: Sendable, Second: Sendable, Third: Sendable>: Sendable {
    @usableFromInline let call: @Sendable (First, Second, Third) -> Void

    @inlinable
    init(_ call: @escaping @Sendable (First, Second, Third) -> Void) { self.call = call }

    /// Returns the handler that runs this one on a context.
    @inlinable
    func wrapped(
        for context: any ExecutionContext, _ fileID: StaticString, _ line: UInt,
        _ onFault: @escaping @Sendable (CallbackFault) -> Void
    ) -> @Sendable (First, Second, Third) -> Void {
        let callback = CallbackState(self, on: context, fileID, line, onFault)
        return { first, second, third in
            switch callback.begin() {
            case .nothing: break
            case .here: callback.take().call(first, second, third)
            case .submit: callback.send { callback.take().call(first, second, third) }
            }
        }
    }
}

/// What a handler made by `fromCallback` keeps: the state of the future that its first call
/// completes.
@usableFromInline
final class CallbackPromise: @unchecked Sendable {
    // Unchecked: `state` belongs to the first caller, or to `deinit` if there is no caller.
    private let call = Decision()
    private var state: PromiseState?
    private let location: CodePlace
    private var onFault: (@Sendable (CallbackFault) -> Void)?

    init(
        _ state: PromiseState, _ location: CodePlace,
        _ onFault: @escaping @Sendable (CallbackFault) -> Void
    ) {
        self.state = state
        self.location = location
        self.onFault = onFault
    }

    // No caller is left. Captures of the closure may hold the last reference to another promise.
    deinit {
        state?.abandon()
        Freeing.free(onFault.take())
    }

    /// Returns the future state to the first caller, and reports any other call.
    ///
    /// The state is taken out, so that a handler that was called does not keep the value alive
    /// (law 10).
    @usableFromInline
    func take() -> PromiseState? {
        if call.make() { return state.take() }
        onFault?(CallbackFault(.calledAgain, context: nil, sourceLocation: location.call))
        return nil
    }
}

extension Async {
    /// Calls `start` with a handler of any kind; an error that it throws completes the future.
    @usableFromInline
    init(
        _ fileID: StaticString, _ line: UInt,
        _ onFault: @escaping @Sendable (CallbackFault) -> Void,
        start: (
            _ promise: CallbackPromise, _ onCancel: @escaping @Sendable (@escaping Work) -> Void
        ) throws
            -> Void
    ) {
        let location = CodePlace(fileID, line)
        let state = PromiseState(location: location)
        self.init(state: state)
        do {
            try start(CallbackPromise(state, location, onFault), { state.onCancel($0) })
        } catch {
            state.complete(throwing: error)
        }
    }
}

extension PromiseState {
    /// Completes the future with an optional value and an optional error; the error takes
    /// precedence.
    @inlinable
    func complete<Value>(with value: Value?, _ error: (any Error)?) {
        if let error {
            complete(throwing: error)
        } else if let value {
            complete(with: value)
        } else {
            complete(throwing: AsyncError.noOutcome)
        }
    }
}
