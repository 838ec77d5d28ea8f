internal import Dispatch

/// A dispatch queue that the user made, and that the user says keeps barriers.
///
/// A queue does not report whether it is serial. So if the caller is already on it, and not through
/// this context, the system checks that the caller has exclusive access, and traps if not.
struct ForeignQueueContext: SynchronousBarrierContext {
    let entry: QueueEntry

    var queue: DispatchQueue { entry.queue }

    func execute(_ work: consuming @escaping Work) {
        SimulationHooks.willSubmitOutside(to: name)
        entry.submit(consume work)
    }

    func executeBarrier(_ work: consuming @escaping Work) {
        SimulationHooks.willSubmitOutside(to: name)
        entry.submitBarrier(consume work)
    }

    func sync<Value, Failure: Error>(
        _ body: () throws(Failure) -> Value
    ) throws(Failure) -> Value {
        try entry.read(body)
    }

    func syncBarrier<Value, Failure: Error>(
        _ body: () throws(Failure) -> Value
    ) throws(Failure) -> Value {
        // Inside a hold the caller holds once more: another thread may release the hold.
        if !entry.mark.exclusiveOwner.isMine && hasToItself() {
            return try entry.exclusively(body)
        }
        return try entry.exclude(body)
    }

    func hold() -> ExclusiveHold {
        !entry.mark.exclusiveOwner.isMine && hasToItself() ? .nothing : entry.hold()
    }

    var isCurrent: Bool? { entry.isCurrent }

    func checkIsCurrent() -> Bool {
        dispatchPrecondition(condition: .onQueue(queue))
        return true
    }

    var name: String { queue.label }

    var facts: ContextFacts {
        var facts = ContextFacts { foresee(&$0) }
        facts.queue = queue
        return facts
    }

    private func foresee(_ forecast: inout WaitForecast) {
        entry.isExclusive ? forecast.obstacle = name : forecast.ask(queue)
    }

    /// Whether the caller has exclusive access to the queue.
    ///
    /// Traps if the caller shares the queue with other work, and would wait for itself.
    private func hasToItself() -> Bool {
        if entry.isExclusive { return true }
        require(
            !entry.isReading,
            "An exclusive access on '\(name)' was waited for from within a read, and would wait for that read to "
                + "end (laws 18, 28). End the read first, or make it an exclusive access as well.")
        guard isCurrent == true else { return false }
        dispatchPrecondition(condition: .onQueueAsBarrier(queue))
        return true
    }
}
