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

/// A wrapped handler with any arguments: it runs once on its context, or is reported.
@usableFromInline
class CallbackCore: @unchecked Sendable {
    // Unchecked: `bindValues` belongs to the caller that moves `state` from waiting. The subclass's
    // handler belongs to the thread that moves `state` to over. The rest is constant.

    /// What a caller of the wrapped handler has to do.
    @usableFromInline
    enum Action { case nothing, here, submit }

    private let state = Atomic<State>(.waiting)
    /// Whether the context is `.immediate`, so that nothing is kept for later.
    private let runsHere: Bool
    private let context: any ExecutionContext
    private var onFault: (@Sendable (CallbackFault) -> Void)?
    fileprivate let location: CodePlace
    /// Returns the job with the values that the context binds where the handler is wrapped.
    private var bindValues: ((_ job: @escaping Work) -> Work)?

    @usableFromInline
    init(
        on context: any ExecutionContext, _ fileID: StaticString, _ line: UInt,
        _ onFault: @escaping @Sendable (CallbackFault) -> Void
    ) {
        self.context = context
        self.onFault = onFault
        location = CodePlace(fileID, line)
        runsHere = type(of: context) == ImmediateContext.self
        // The task-locals of the wrapping task are taken here, before there is a job.
        bindValues = context.submissionTransform.map { binding in
            let later = LaterJob()
            let bound = binding { later.job?() }
            return { job in
                later.job = job
                return bound
            }
        }
    }

    func discard() { fatalError("A subclass of CallbackCore must override discard().") }

    /// Decides what this call of the wrapped handler does; every call starts with it.
    @usableFromInline
    final func begin() -> Action {
        guard transition(from: .waiting, to: runsHere ? .over : .called) else {
            report(.calledAgain)
            return .nothing
        }
        return runsHere ? .here : .submit
    }

    /// Submits `work`, which takes the handler and calls it; only the first caller does.
    @usableFromInline
    final func send(_ work: @escaping Work) {
        var (job, refused) = CompletionGuard.closures(for: HandlerCall(core: self, work: work))
        if let bindValues = bindValues.take() {
            job = JobSource.carry(JobSource(location), bindValues(consume job))
        }
        context.execute(consume job, refused: consume refused)
    }

    // Captures of the closure, as of the handler, may hold the last reference to another callback.
    deinit { Freeing.free(onFault.take()) }

    /// Called by `deinit` of the subclass, which gives its handler away.
    final func wasReleased<Handler: Sendable>(with handler: consuming Handler?) {
        guard transition(from: .waiting, to: .over) else { return }
        let fault = fault(.neverCalled)
        Freeing.free(consume handler)
        if let onFault { BoundedNesting.call([{ onFault(fault) }]) }
    }

    fileprivate final func beginRun() -> Bool { transition(from: .called, to: .over) }

    fileprivate final func wasRefused(_ reason: Refusal.Reason) {
        guard transition(from: .called, to: .over) else { return }
        discard()
        report(.refused(reason))
    }

    private func report(_ reason: CallbackFault.Reason) { onFault?(fault(reason)) }

    private func fault(_ reason: CallbackFault.Reason) -> CallbackFault {
        CallbackFault(reason: reason, context: context.name, sourceLocation: location.call)
    }

    // Acquiring and releasing: who takes the handler sees the writes of the wrapping thread.
    private func transition(from old: State, to new: State) -> Bool {
        SimulationHooks.point()
        return state.compareExchange(expected: old, desired: new, ordering: .acquiringAndReleasing)
            .exchanged
    }
}

private struct HandlerCall: GuardedJob {
    let core: CallbackCore
    var work: Work?

    var source: JobSource { JobSource(core.location) }

    mutating func run() {
        guard core.beginRun() else { return }
        work.take()!()
    }

    func refuse(_ refusal: Refusal) { core.wasRefused(refusal.reason) }

    func drop() { core.wasRefused(.abandoned) }
}

private final class LaterJob: @unchecked Sendable {
    // Unchecked: written by the first caller before the context gets the job, then only read.
    var job: Work?
}

/// A wrapped handler that waits for its call; the closure that `callback` returns retains it.
///
/// Only this keeps the handler until it runs: a caller could be the last to release it (law 10).
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
/// The mistake is seldom in the code that made the handler, so it is reported, and does not trap.
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
    /// `onFault` does this by default. It ignores a handler whose token was invalidated.
    public func report() {
        if reason == .refused(.invalidated) { return }
        // One write, so that the lines of several threads do not mix.
        var line = "ExecutionContexts: \(description)\n"
        line.withUTF8 { unsafe ec_write_error($0.baseAddress, $0.count) }
    }
}

// - Inlinable, so that the types of the arguments are known where `callback` is called: a look-up
//   of a generic class at run time costs more than the allocation.
// - The context is `any`: no code is specialized for the type of a context that is not known.
// - Structs: a generic class would call a bare closure through a thunk, with another allocation.

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

@usableFromInline
@frozen
struct Handler1<First: Sendable>: Sendable {
    @usableFromInline let call: @Sendable (First) -> Void

    @inlinable
    init(_ call: @escaping @Sendable (First) -> Void) { self.call = call }

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

@usableFromInline
@frozen
struct Handler2<First: Sendable, Second: Sendable>: Sendable {
    @usableFromInline let call: @Sendable (First, Second) -> Void

    @inlinable
    init(_ call: @escaping @Sendable (First, Second) -> Void) { self.call = call }

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

@usableFromInline
@frozen
struct Handler3<First: Sendable, Second: Sendable, Third: Sendable>: Sendable {
    @usableFromInline let call: @Sendable (First, Second, Third) -> Void

    @inlinable
    init(_ call: @escaping @Sendable (First, Second, Third) -> Void) { self.call = call }

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
