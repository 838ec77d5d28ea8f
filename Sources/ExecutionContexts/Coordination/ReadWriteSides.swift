/// The reading side of a coordinator: its jobs run on the caller, beside other reads (law 20).
public struct ReadingContext: SynchronousContext {
    private let coordinator: ReadWriteCoordinator

    init(_ coordinator: ReadWriteCoordinator) { self.coordinator = coordinator }

    public func execute(_ work: @escaping Work) { coordinator.read { () throws(Never) in work() } }

    /// Runs `work` beside other reads on the global context, after the writes before it.
    public func enqueue(_ work: consuming @escaping Work) {
        coordinator.exclusion.enqueueRead(consume work)
    }

    public func sync<Value, Failure: Error>(
        _ body: () throws(Failure) -> Value
    ) throws(Failure) -> Value { try coordinator.read(body) }

    /// Whether the caller is inside an access of the coordinator, where a read runs at once.
    public var isCurrent: Bool? { coordinator.admission.isInside }

    public var time: any TimeSource { coordinator.exclusion.writeContext.time }

    public var name: String { "\(coordinator.name).reading" }

    public var facts: ContextFacts {
        var facts = ContextFacts()
        facts.meansThread = coordinator.exclusion.writeContext.jobsMeanThread
        return facts
    }
}

/// The writing side of a coordinator: its jobs run alone, in order, as enqueued writes.
///
/// It is serial, so it can back an actor, whose code then excludes the coordinator's readers from
/// one `await` to the next (law 20).
public final class WritingContext: ActorBackingContext, SynchronousBarrierContext {
    private let coordinator: ReadWriteCoordinator

    init(_ coordinator: ReadWriteCoordinator) { self.coordinator = coordinator }

    public func execute(_ work: consuming @escaping Work) { coordinator.enqueueWrite(consume work) }

    /// Submits a write that does not run on the caller, even if the write context is inline.
    public func enqueue(_ work: consuming @escaping Work) {
        coordinator.exclusion.enqueueWrite(consume work, later: true)
    }

    /// Runs `body` on the caller as a blocking write.
    public func sync<Value, Failure: Error>(
        _ body: () throws(Failure) -> Value
    ) throws(Failure) -> Value { try coordinator.blockingWrite(body) }

    /// Waits like a blocking write, then holds the coordinator until the release, without a thread.
    public func hold() -> ExclusiveHold { coordinator.exclusion.hold() }

    /// Whether the caller is inside a write of the coordinator, or holds it.
    public var isCurrent: Bool? { coordinator.admission.isInsideWrite }

    public var submissionTransform: (@Sendable (_ work: @escaping Work) -> Work)? {
        coordinator.exclusion.writeContext.submissionTransform
    }

    public var time: any TimeSource { coordinator.exclusion.writeContext.time }

    public var name: String { "\(coordinator.name).writing" }

    public var facts: ContextFacts {
        var facts = ContextFacts { [self] in foresee(&$0) }
        facts.meansThread = coordinator.exclusion.writeContext.jobsMeanThread
        return facts
    }

    private func foresee(_ forecast: inout WaitForecast) {
        let admission = coordinator.admission
        if admission.isInsideWrite { return forecast.obstacle = name }
        if admission.isInside {
            return forecast.obstruct(
                name, inside: "a read of '\(coordinator.name)', which each of its writes waits for",
                until: "that read has ended")
        }
        coordinator.exclusion.foreseeWrite(&forecast)
    }
}

extension ReadWriteCoordinator {
    /// The reading side as a context: `sync` is `read`.
    public var reading: ReadingContext { ReadingContext(self) }
}
