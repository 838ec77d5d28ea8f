public import Dispatch

/// Runs work on a concurrent dispatch queue of its own, which keeps barriers (law 3).
public final class BarrierQueueContext: SynchronousBarrierContext, ForeseeingContext {
    private let gate: QueueGate

    /// Makes a context with a concurrent queue of its own.
    public init(label: String, qos: DispatchQoS = .unspecified) {
        // No target: a concurrent queue keeps its barriers only over a root of the system's.
        gate = QueueGate(DispatchQueue(label: label, qos: qos, attributes: .concurrent))
    }

    /// The queue that the work runs on.
    public var queue: DispatchQueue { gate.queue }

    public func execute(_ work: consuming @escaping Work) {
        Seam.leaves(for: name)
        gate.submit(consume work)
    }

    public func executeBarrier(_ work: consuming @escaping Work) {
        Seam.leaves(for: name)
        gate.submitBarrier(consume work)
    }

    /// Waits for `body` to run beside other work; from the queue's own work it runs at once.
    public func sync<Value, Failure: Error>(
        _ body: () throws(Failure) -> Value
    ) throws(Failure) -> Value {
        try gate.read(body)
    }

    /// Waits for `body` to run with nothing beside it; from within a barrier it runs at once.
    ///
    /// From within work that is no barrier it could never start, since it would wait for that work: the program
    /// stops with a sentence (law 3).
    public func syncBarrier<Value, Failure: Error>(
        _ body: () throws(Failure) -> Value
    ) throws(Failure) -> Value {
        checkMayWait()
        return try gate.exclude(body)
    }

    /// Keeps the queue to the caller; it is suspended meanwhile, and no thread waits with it.
    public func hold() -> ExclusiveHold {
        checkMayWait()
        return gate.hold()
    }

    private func checkMayWait() {
        require(
            gate.isExclusive || isCurrent != true && !gate.isReading,
            "A barrier on '\(name)' was waited for from within the context's own work, and would wait for "
                + "that work to end (law 3). Submit it with executeBarrier instead.")
    }

    /// Yes on this queue, on queues that target it and for who holds it, otherwise not known (law 4).
    public var isCurrent: Bool? { gate.isCurrent }

    public func checkIsCurrent() -> Bool {
        dispatchPrecondition(condition: .onQueue(queue))
        return true
    }

    public var name: String { queue.label }

    package func foresee(_ outlook: inout Outlook) { if gate.isExclusive { outlook.obstacle = name } }
}

extension ExecutionContext where Self == BarrierQueueContext {
    /// A new concurrent dispatch queue, which keeps barriers.
    public static func barrier(
        label: String, qos: DispatchQoS = .unspecified
    ) -> BarrierQueueContext {
        BarrierQueueContext(label: label, qos: qos)
    }
}
