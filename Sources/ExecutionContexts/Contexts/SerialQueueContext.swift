public import Dispatch

/// Runs work on a serial dispatch queue of its own, one job at a time, in order (law 2).
///
/// `.global.serial()` is a lighter view with the same guarantees. Make a queue if you must
/// pass one to a system API, which takes `queue`.
public final class SerialQueueContext: ActorBackingContext, SynchronousBarrierContext {
    private let entry: QueueEntry

    /// Makes a context with its own serial queue, which may target another queue.
    public init(name: String, qos: DispatchQoS = .unspecified, target: DispatchQueue? = nil) {
        entry = QueueEntry(
            serial: DispatchQueue(label: name, qos: qos, target: target), target: target)
    }

    /// The queue that the work runs on.
    public var queue: DispatchQueue { entry.queue }

    public func execute(_ work: consuming @escaping Work) {
        SimulationHooks.willSubmitOutside(to: name)
        entry.submit(consume work)
    }

    /// Waits for `body` to run in order; inside the queue's own work it runs at once, as a part of
    /// it.
    public func sync<Value, Failure: Error>(
        _ body: () throws(Failure) -> Value
    ) throws(Failure) -> Value {
        if entry.mark.isOccupied { return try body() }
        if entry.mark.target != nil && !entry.mark.exclusiveOwner.isMine { checkTargets() }
        return try entry.exclude(body)
    }

    /// Gives the caller exclusive access; the queue is suspended meanwhile, and no thread is
    /// blocked.
    public func hold() -> ExclusiveHold {
        // All of the queue's own work is exclusive.
        if entry.mark.isOccupied { return .nothing }
        if entry.mark.target != nil && !entry.mark.exclusiveOwner.isMine { checkTargets() }
        return entry.hold()
    }

    /// Traps if the caller is on a queue that this one targets, and would wait for itself.
    private func checkTargets() {
        var forecast = WaitForecast()
        forecast.follow(targetsOf: entry.mark)
        forecast.trapIfObstructed(name)
    }

    /// Yes on this queue, on queues that target it and for its holder, otherwise not known (law 4).
    public var isCurrent: Bool? { entry.isCurrent }

    public func checkIsCurrent() -> Bool {
        dispatchPrecondition(condition: .onQueue(queue))
        return true
    }

    public var name: String { queue.label }

    public var facts: ContextFacts {
        var facts = ContextFacts { [self] in foresee(&$0) }
        facts.queue = queue
        return facts
    }

    private func foresee(_ forecast: inout WaitForecast) {
        if isCurrent == true { return forecast.obstacle = name }
        // Another queue's `sync` may hide that the caller is on this queue: the system knows.
        if forecast.mayTrap {
            SystemCheck.run(
                { dispatchPrecondition(condition: .notOnQueue(queue)) },
                orElse: { WaitForecast.trapEndless(name, "a job of '\(name)', on which it runs") })
        }
        forecast.follow(targetsOf: entry.mark)
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
