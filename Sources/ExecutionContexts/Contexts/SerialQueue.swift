public import Dispatch

/// Runs work on a serial dispatch queue of its own, one piece at a time, in order (law 2).
///
/// `.global.serial("name")` is a lighter view with the same promise; a queue is for those who must hand one
/// to a system API, which takes `queue`.
public final class SerialQueueContext: ActorBackingContext, SynchronousBarrierContext, ForeseeingContext {
    private let gate: QueueGate

    /// Makes a context with a serial queue of its own, which may target another queue.
    public init(label: String, qos: DispatchQoS = .unspecified, target: DispatchQueue? = nil) {
        gate = QueueGate(serial: DispatchQueue(label: label, qos: qos, target: target), target: target)
    }

    /// The queue that the work runs on.
    public var queue: DispatchQueue { gate.queue }

    public func execute(_ work: consuming @escaping Work) {
        Seam.leaves(for: name)
        gate.submit(consume work)
    }

    /// Waits for `body` to run in its turn; from the queue's own work it runs at once, as a part of it.
    public func sync<Value, Failure: Error>(
        _ body: () throws(Failure) -> Value
    ) throws(Failure) -> Value {
        if isCurrent == true { return try body() }
        if gate.mark.target != nil { checkTargets() }
        return try gate.exclude(body)
    }

    /// Keeps the queue to the caller; it is suspended meanwhile, and no thread waits with it.
    public func hold() -> ExclusiveHold {
        // All its own work is exclusive.
        if gate.mark.isOccupied { return .nothing }
        if gate.mark.target != nil && !gate.mark.holding.isMine { checkTargets() }
        return gate.hold()
    }

    /// Traps if the caller has a queue that this one targets, and would wait for itself.
    private func checkTargets() {
        var outlook = Outlook()
        outlook.follow(targetsOf: gate.mark)
        outlook.stopIfObstructed(name)
    }

    /// Yes on this queue, on queues that target it and for who holds it, otherwise not known (law 4).
    public var isCurrent: Bool? { gate.isCurrent }

    public func checkIsCurrent() -> Bool {
        dispatchPrecondition(condition: .onQueue(queue))
        return true
    }

    public var name: String { queue.label }

    package func foresee(_ outlook: inout Outlook) {
        if isCurrent == true { return outlook.obstacle = name }
        // Where another queue's `sync` hides that the caller is on it, the system knows and traps.
        dispatchPrecondition(condition: .notOnQueue(queue))
        outlook.follow(targetsOf: gate.mark)
    }
}

extension ExecutionContext where Self == SerialQueueContext {
    /// A new serial dispatch queue.
    public static func serial(
        label: String, qos: DispatchQoS = .unspecified, target: DispatchQueue? = nil
    ) -> SerialQueueContext {
        SerialQueueContext(label: label, qos: qos, target: target)
    }
}
