public import Foundation

/// Runs work as operations of an operation queue: `operationQueue.context`.
///
/// For code that has such a queue already; `limited(to:)` is the lighter way to a limit. Its operations
/// start in order only as far as the queue's own settings say, so this context promises no order.
///
/// A `sync` on a view of it, from within the only operation that the queue may run at a time, traps
/// after a second (law 27). With a higher limit no such wait is found: where all operations wait
/// for one another, they hang.
public struct OperationQueueContext: ExecutionContext, ForeseeingContext {
    /// The queue that the work runs on.
    public let queue: OperationQueue

    /// Makes a context that runs its work on an operation queue.
    public init(_ queue: OperationQueue) { self.queue = queue }

    public func execute(_ work: consuming @escaping Work) {
        Seam.leaves(for: name)
        let job = unsafe QueueJob(consume work, of: Frame.owner(queue))
        queue.addOperation { [queue] in withExtendedLifetime(queue) { job.run() } }
    }

    /// Yes inside an operation of this queue, otherwise not known (law 4).
    public var isCurrent: Bool? { OperationQueue.current === queue ? true : nil }

    public var name: String { queue.name ?? "operation queue" }

    package func foresee(_ outlook: inout Outlook) {
        if queue === OperationQueue.main { return outlook.follow(MainContext()) }
        guard isLastFree else { return }
        // Somebody may let it run more at a time; who means to has a second for it.
        outlook.probe = { name in
            guard isLastFree else { return }
            Outlook.stopEndless(
                name, "the only operation that '\(self.name)' can run at a time, on which it runs")
        }
    }

    /// Whether the caller runs the one operation that the queue may run at a time.
    private var isLastFree: Bool {
        guard queue.maxConcurrentOperationCount == 1 else { return false }
        if unsafe Frame.isCurrent(Frame.owner(queue)) { return true }
        // Somebody else's operation: one that says itself when it has finished may have done so.
        guard OperationQueue.current === queue else { return false }
        return queue.operations.contains { $0.isExecuting && !$0.isAsynchronous }
    }
}

extension OperationQueue {
    /// This operation queue as a context.
    public var context: OperationQueueContext { OperationQueueContext(self) }
}

extension ExecutionContext where Self == OperationQueueContext {
    /// An operation queue as a context.
    public static func operations(_ queue: OperationQueue) -> OperationQueueContext {
        OperationQueueContext(queue)
    }
}
