public import Dispatch

/// Runs work on a concurrent dispatch queue of its own, which keeps barriers (law 3).
public final class BarrierQueueContext: SynchronousBarrierContext {
    private let entry: QueueEntry

    /// Makes a context with its own concurrent queue.
    public init(name: String, qos: DispatchQoS = .unspecified) {
        // No target: a concurrent queue keeps its barriers only over a root queue of the system.
        entry = QueueEntry(DispatchQueue(label: name, qos: qos, attributes: .concurrent))
    }

    /// The queue that the work runs on.
    public var queue: DispatchQueue { entry.queue }

    public func execute(_ work: consuming @escaping Work) { entry.execute(consume work) }

    public func executeBarrier(_ work: consuming @escaping Work) {
        entry.executeBarrier(consume work)
    }

    /// Waits for `body` to run beside other work; inside the queue's own work it runs at once.
    public func sync<Value, Failure: Error>(
        _ body: () throws(Failure) -> Value
    ) throws(Failure) -> Value {
        try entry.sync(body)
    }

    /// Waits for `body` to run exclusively; inside a barrier it runs at once.
    ///
    /// Inside work that is not a barrier it traps: it would wait for that work (law 3).
    public func syncBarrier<Value, Failure: Error>(
        _ body: () throws(Failure) -> Value
    ) throws(Failure) -> Value {
        checkMayWait()
        return try entry.exclude(body)
    }

    /// Gives the caller exclusive access. It suspends the queue meanwhile, and blocks no thread.
    public func hold() -> ExclusiveHold {
        checkMayWait()
        return entry.exclude()
    }

    private func checkMayWait() {
        require(
            entry.isExclusive || isCurrent != true && !entry.isReading,
            "A barrier on '\(name)' was waited for from within the context's own work, and would wait for "
                + "that work to end (law 3). Submit it with executeBarrier instead.")
    }

    /// Yes on this queue, on queues that target it and for its holder, otherwise not known (law 4).
    public var isCurrent: Bool? { entry.isCurrent }

    public func checkIsCurrent() -> Bool { entry.checkIsCurrent() }

    public var name: String { queue.label }

    public var facts: ContextFacts {
        ContextFacts(queue: queue) { [self] forecast in
            if entry.isExclusive { forecast.obstacle = name }
        }
    }
}

extension ExecutionContext where Self == BarrierQueueContext {
    /// A new concurrent dispatch queue, which keeps barriers.
    public static func barrier(
        named name: String, qos: DispatchQoS = .unspecified
    ) -> BarrierQueueContext {
        BarrierQueueContext(name: name, qos: qos)
    }
}
