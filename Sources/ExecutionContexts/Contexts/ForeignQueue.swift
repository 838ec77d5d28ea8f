internal import Dispatch

/// A dispatch queue that somebody else made, taken at its word that it keeps barriers.
///
/// A queue does not tell whether it is serial. So where the caller is already on it, and not by way of this context,
/// the system is asked whether the caller has it to itself, and stops the program if not.
struct ForeignQueueContext: SynchronousBarrierContext, ForeseeingContext {
    let gate: QueueGate

    var queue: DispatchQueue { gate.queue }

    func execute(_ work: consuming @escaping Work) {
        Seam.leaves(for: name)
        gate.submit(consume work)
    }

    func executeBarrier(_ work: consuming @escaping Work) {
        Seam.leaves(for: name)
        gate.submitBarrier(consume work)
    }

    func sync<Value, Failure: Error>(
        _ body: () throws(Failure) -> Value
    ) throws(Failure) -> Value {
        try gate.read(body)
    }

    func syncBarrier<Value, Failure: Error>(
        _ body: () throws(Failure) -> Value
    ) throws(Failure) -> Value {
        try hasToItself() ? gate.exclusively(body) : gate.exclude(body)
    }

    func hold() -> ExclusiveHold {
        !gate.mark.holding.isMine && hasToItself() ? .nothing : gate.hold()
    }

    var isCurrent: Bool? { gate.isCurrent }

    func checkIsCurrent() -> Bool {
        dispatchPrecondition(condition: .onQueue(queue))
        return true
    }

    var name: String { queue.label }

    func foresee(_ outlook: inout Outlook) { gate.isExclusive ? outlook.obstacle = name : outlook.ask(queue) }

    /// Whether the caller has the queue to itself; stops the program where it shares it, and would wait for itself.
    private func hasToItself() -> Bool {
        if gate.isExclusive { return true }
        require(
            !gate.isReading,
            "An exclusive access on '\(name)' was waited for from within a read, and would wait for that read to "
                + "end (laws 18, 28). End the read first, or make it an exclusive access as well.")
        guard isCurrent == true else { return false }
        dispatchPrecondition(condition: .onQueueAsBarrier(queue))
        return true
    }
}
