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
    fileprivate let location: CodeLocation
    /// The values that the context binds where the handler is wrapped, for where it runs.
    private var boundValues: BoundValues?

    @usableFromInline
    init(
        on context: any ExecutionContext, _ fileID: StaticString, _ line: UInt,
        _ onFault: @escaping @Sendable (CallbackFault) -> Void
    ) {
        self.context = context
        self.onFault = onFault
        location = CodeLocation(fileID, line)
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
            job = JobSource.carry(JobSource(location.place), boundValues.bind(job))
        }
        context.execute(job, refused: { call.refuse($0) })
    }

    // Captures of the closure, as of the handler, may hold the last reference to another callback.
    deinit { BoundedNesting.free(onFault.take()) }

    /// Called by `deinit` of the subclass, which gives its handler away.
    final func wasReleased<Handler: Sendable>(with handler: consuming Handler?) {
        guard transition(from: .waiting, to: .over) else { return }
        let fault = CallbackFault(
            .neverCalled, context: context.name, sourceLocation: location.description)
        BoundedNesting.free(consume handler)
        if let onFault { BoundedNesting.call([{ onFault(fault) }]) }
    }

    fileprivate final func beginRun() -> Bool { transition(from: .called, to: .over) }

    fileprivate final func wasRefused(_ reason: Refusal.Reason) {
        guard transition(from: .called, to: .over) else { return }
        discard()
        report(.refused(reason))
    }

    private func report(_ reason: CallbackFault.Reason) {
        onFault?(CallbackFault(reason, context: context.name, sourceLocation: location.description))
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

    var source: JobSource { JobSource(core.location.place) }

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
