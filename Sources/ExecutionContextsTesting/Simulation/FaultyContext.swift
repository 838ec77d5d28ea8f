public import ExecutionContexts

/// A fault that a context of a simulation may have.
public enum ContextFault: Hashable, Sendable, CaseIterable {
    /// It refuses a job of a call that can report it: `run`, `submit` and `tryExecute`.
    case refusal
    /// It drops a job silently.
    case loss
    /// It runs a job of plain `execute` twice.
    case repetition
    /// One of its delays never ends.
    case lostDelay
}

extension SimulatedWorld {
    /// Returns a view of a context, with faults where the schedule decides so.
    ///
    /// With a context that loses or repeats jobs, law 1 does not hold: use it as a test double of
    /// an executor, a network or a message queue without that guarantee.
    public func faulty<Base: ExecutionContext>(
        _ context: Base, _ faults: Set<ContextFault> = [.refusal]
    ) -> FaultyContext<Base> {
        FaultyContext(base: context, faults: faults, world: self)
    }

    /// Returns a view of a stored `any` context, with faults where the schedule decides so.
    @_disfavoredOverload
    public func faulty(
        _ context: any ExecutionContext, _ faults: Set<ContextFault> = [.refusal]
    ) -> any RefusingContext {
        func view(_ context: some ExecutionContext) -> any RefusingContext {
            faulty(context, faults)
        }
        return view(context)
    }
}

/// A view of a simulated context, with faults where the schedule decides so.
///
/// It is serial, and supports barriers, where its base does.
public struct FaultyContext<Base: ExecutionContext>: ContextDecorator, RefusingContext {
    public let base: Base
    private let faults: Set<ContextFault>
    private let world: SimulatedWorld
    private let clock: FaultyTime

    init(base: Base, faults: Set<ContextFault>, world: SimulatedWorld) {
        (self.base, self.faults, self.world) = (base, faults, world)
        clock = FaultyTime(base, world)
    }

    public func execute(_ work: @escaping Work) {
        if happens(.loss, "'\(name)' loses a job") { return }
        base.execute(work)
        if happens(.repetition, "'\(name)' repeats a job") { base.execute(work) }
    }

    public func enqueue(_ work: @escaping Work) {
        if happens(.loss, "'\(name)' loses a job") { return }
        base.enqueue(work)
    }

    public func execute(
        _ work: @escaping Work, refused: consuming @escaping @Sendable (Refusal) -> Void
    ) {
        do throws(Refusal) {
            try refuse()
        } catch {
            return refused(error)
        }
        if happens(.loss, "'\(name)' loses a job") { return }
        base.execute(work, refused: consume refused)
    }

    public func tryExecute(_ work: @escaping Work) throws(Refusal) {
        try refuse()
        if happens(.loss, "'\(name)' loses a job") { return }
        // The base may refuse the job, too.
        guard let base = base as? any RefusingContext else { return base.execute(work) }
        try base.tryExecute(work)
    }

    public func executeBarrier(_ work: @escaping Work) where Base: BarrierContext {
        if happens(.loss, "'\(name)' loses a barrier") { return }
        base.executeBarrier(work)
    }

    public var time: any TimeSource { faults.contains(.lostDelay) ? clock : base.time }

    private func refuse() throws(Refusal) {
        if happens(.refusal, "'\(name)' refuses a job") { throw Refusal(.shutDown, by: name) }
    }

    private func happens(_ fault: ContextFault, _ name: @autoclosure () -> String) -> Bool {
        faults.contains(fault) && world.chance(name())
    }
}

extension FaultyContext: BarrierContext where Base: BarrierContext {}
extension FaultyContext: SerialContext where Base: SerialContext {}

/// The time of a faulty context; its delays may never end.
private final class FaultyTime: TimeSource {
    private let base: any TimeSource
    private let context: String
    private let world: SimulatedWorld

    init(_ base: some ExecutionContext, _ world: SimulatedWorld) {
        (self.base, context, self.world) = (base.time, base.name, world)
    }

    var now: ContextInstant { base.now }
    var identity: ObjectIdentifier { base.identity }

    func add(_ delay: DelayedWork, tolerance: Duration) {
        if world.chance("'\(context)' loses a delay") { return }
        base.add(delay, tolerance: tolerance)
    }

    func remove(_ delay: DelayedWork) { base.remove(delay) }
}
