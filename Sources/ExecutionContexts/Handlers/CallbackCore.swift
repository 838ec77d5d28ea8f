internal import Synchronization

/// How far a wrapped handler has come.
private enum State { static let waiting: UInt8 = 0, called: UInt8 = 1, over: UInt8 = 2 }

/// What a wrapped handler is owed, whatever its arguments: one run on its context, or a report.
@usableFromInline
class CallbackCore: @unchecked Sendable {
    // Unchecked: `carried` belongs to the one who moves `state` from waiting, and the handler, which the subclass
    // keeps, to the one who moves it to over. The rest never changes.

    /// What a caller of the wrapped handler has to do.
    @usableFromInline
    enum Turn {
        case nothing, here, elsewhere
    }

    private let state = Atomic<UInt8>(State.waiting)
    /// Whether the context is `.immediate`, over which nothing need be kept for later.
    private let runsHere: Bool
    private let context: any ExecutionContext
    private var onFault: (@Sendable (CallbackFault) -> Void)?
    private let origin: Origin
    /// What the context carries from where the handler was wrapped to where it runs.
    private var carried: CarriedValues?

    @usableFromInline
    init(
        on context: any ExecutionContext, _ fileID: StaticString, _ line: UInt,
        _ onFault: @escaping @Sendable (CallbackFault) -> Void
    ) {
        self.context = context
        self.onFault = onFault
        origin = Origin(fileID, line)
        runsHere = type(of: context) == ImmediateContext.self
        carried = context.binding.map(CarriedValues.init)
    }

    /// Lets go of the handler.
    func discard() { fatalError("A callback says what it keeps.") }

    /// Called by every call of the wrapped handler.
    @usableFromInline
    final func begin() -> Turn {
        let isFirst = move(from: State.waiting, to: runsHere ? State.over : State.called)
        guard isFirst else {
            report(.calledAgain)
            return .nothing
        }
        return runsHere ? .here : .elsewhere
    }

    /// Gives the context the work, which takes the handler and calls it; for the first caller.
    @usableFromInline
    final func send(_ work: @escaping Work) {
        let claim = CallbackClaim(self, work)
        var turn: Work = { claim.run() }
        if let carried {
            self.carried = nil
            turn = carried.bind(turn)
        }
        context.execute(turn, refused: { claim.refuse($0.reason) })
    }

    // What the closure captured may be the last reference to the next one of these, as what the handler captured.
    deinit { Delivery.free(onFault.take()) }

    /// For the end of the subclass, which gives its handler away.
    final func wasLetGo<Handler: Sendable>(with handler: consuming Handler?) {
        guard move(from: State.waiting, to: State.over) else { return }
        let fault = CallbackFault(.neverCalled, context: context.name, origin: origin.description)
        Delivery.free(consume handler)
        if let onFault { Delivery.call([{ onFault(fault) }]) }
    }

    fileprivate final func mayRun() -> Bool { move(from: State.called, to: State.over) }

    fileprivate final func wasRefused(_ reason: Refusal.Reason) {
        guard move(from: State.called, to: State.over) else { return }
        discard()
        report(.refused(reason))
    }

    private func report(_ reason: CallbackFault.Reason) {
        onFault?(CallbackFault(reason, context: context.name, origin: origin.description))
    }

    // Acquiring and releasing: who takes the handler sees what was written by who wrapped it.
    private func move(from old: UInt8, to new: UInt8) -> Bool {
        Seam.point()
        return state.compareExchange(expected: old, desired: new, ordering: .acquiringAndReleasing).exchanged
    }
}

/// What the context holds of a call: if it dies unused, the context has let go of the work.
private final class CallbackClaim: @unchecked Sendable {
    // Unchecked: `work` is written here and taken by the one who moves the core's state to over.
    private let core: CallbackCore
    private var work: Work?

    init(_ core: CallbackCore, _ work: @escaping Work) {
        self.core = core
        self.work = work
    }

    // After a run or a refusal the matter is over and this does nothing.
    deinit { core.wasRefused(.abandoned) }

    func run() {
        guard core.mayRun() else { return }
        let work = work.take()!
        work()
    }

    func refuse(_ reason: Refusal.Reason) { core.wasRefused(reason) }
}

/// What a context binds to work when it is given, kept until there is work: the task-local values of who wrapped.
private final class CarriedValues: Sendable {
    private final class Slot: @unchecked Sendable {
        // Unchecked: written by the first caller before the context gets the work, and only read from then on.
        var turn: Work?
    }

    private let slot: Slot
    private let bound: Work

    init(_ binding: @Sendable (_ work: @escaping Work) -> Work) {
        let slot = Slot()
        self.slot = slot
        bound = binding { slot.turn?() }
    }

    /// The turn with what was bound; for one turn only.
    func bind(_ turn: @escaping Work) -> Work {
        slot.turn = turn
        return bound
    }
}
