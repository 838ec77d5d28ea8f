#if Foundation
public import Foundation

/// Runs work as operations of an operation queue: `operationQueue.context`.
///
/// It is for code that has such a queue; `limited(to:)` is the lighter way to a limit. It promises
/// no order: the operations start in order only as far as the settings of the queue say.
///
/// A `sync` on a view of it, from inside the only operation that the queue may run at a time, traps
/// after a second (law 27). With a higher limit, operations that wait for one another hang.
public struct OperationQueueContext: ExecutionContext {
    /// The queue that the work runs on.
    public let queue: OperationQueue

    /// Makes a context that runs its work on an operation queue.
    public init(_ queue: OperationQueue) { self.queue = queue }

    public func execute(_ work: consuming @escaping Work) {
        SimulationHooks.willSubmitOutside(to: name)
        let job = unsafe QueueJob(consume work, of: Frame.owner(queue))
        queue.addOperation { [queue] in withExtendedLifetime(queue) { job.run() } }
    }

    /// Yes inside an operation of this queue, otherwise not known (law 4).
    public var isCurrent: Bool? { OperationQueue.current === queue ? true : nil }

    public var name: String { queue.name ?? "operation queue" }

    public var facts: ContextFacts {
        ContextFacts { foresee(&$0) }
    }

    private func foresee(_ forecast: inout WaitForecast) {
        if queue === OperationQueue.main { return forecast.follow(MainContext()) }
        guard isInsideOnlyOperation else { return }
        // Other code may raise the limit; it has a second to do so.
        forecast.probe = { name in
            guard isInsideOnlyOperation else { return }
            WaitForecast.trapEndless(
                name, "the only operation that '\(self.name)' can run at a time, on which it runs")
        }
    }

    /// Whether the caller runs the one operation that the queue may run at a time.
    private var isInsideOnlyOperation: Bool {
        guard queue.maxConcurrentOperationCount == 1 else { return false }
        if unsafe Frame.isCurrent(Frame.owner(queue)) { return true }
        // Of other code: an asynchronous operation reports its own end, and may have done so.
        guard OperationQueue.current === queue else { return false }
        return queue.operations.contains { $0.isExecuting && !$0.isAsynchronous }
    }
}

extension OperationQueue {
    /// This operation queue as a context.
    public var context: OperationQueueContext { OperationQueueContext(self) }
}
#endif
