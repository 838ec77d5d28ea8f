public import Dispatch

/// Runs work on a serial dispatch queue of its own, one job at a time, in order (law 2).
///
/// `.global.serial()` is a lighter view with the same guarantees. Make a queue if you must
/// pass one to a system API, which takes `queue`.
public final class SerialQueueContext: ActorBackingContext, SynchronousBarrierContext {
    private let entry: QueueEntry

    /// Makes a context with its own serial queue, which may target another queue.
    public init(name: String, qos: DispatchQoS = .unspecified, target: DispatchQueue? = nil) {
        let queue = DispatchQueue(label: name, qos: qos, target: target)
        entry = QueueEntry(queue, isSerial: true, target: target)
    }

    /// The queue that the work runs on.
    public var queue: DispatchQueue { entry.queue }

    public func execute(_ work: consuming @escaping Work) { entry.execute(consume work) }

    /// Waits for `body` to run in order; inside the queue's work it runs at once, as part of it.
    public func sync<Value, Failure: Error>(
        _ body: () throws(Failure) -> Value
    ) throws(Failure) -> Value {
        if entry.mark.isOccupied { return try body() }
        checkTargets()
        return try entry.exclude(body)
    }

    /// Gives the caller exclusive access. It suspends the queue meanwhile, and blocks no thread.
    public func hold() -> ExclusiveHold {
        // All of the queue's own work is exclusive.
        if entry.mark.isOccupied { return .nothing }
        checkTargets()
        return entry.exclude()
    }

    /// Traps if the caller is on a queue that this one targets, and would wait for itself.
    private func checkTargets() {
        guard entry.mark.target != nil, !entry.mark.exclusiveOwner.isMine else { return }
        var forecast = WaitForecast()
        forecast.follow(targetsOf: entry.mark)
        forecast.trapIfObstructed(name)
    }

    /// Yes on this queue, on queues that target it and for its holder, otherwise not known (law 4).
    public var isCurrent: Bool? { entry.isCurrent }

    public func checkIsCurrent() -> Bool { entry.checkIsCurrent() }

    public var name: String { queue.label }

    public var facts: ContextFacts {
        ContextFacts(queue: queue) { [self] forecast in
            if isCurrent == true { return forecast.obstacle = name }
            forecast.checkIsNotOn(queue)
            forecast.follow(targetsOf: entry.mark)
        }
    }
}

extension ExecutionContext where Self == SerialQueueContext {
    /// A new serial dispatch queue.
    public static func serial(
        named name: String, qos: DispatchQoS = .unspecified, target: DispatchQueue? = nil
    ) -> SerialQueueContext {
        SerialQueueContext(name: name, qos: qos, target: target)
    }
}
