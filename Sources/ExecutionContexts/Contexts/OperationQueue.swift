public import Foundation

/// Runs work as operations of an operation queue: `operationQueue.context`.
///
/// For code that has such a queue already; `limited(to:)` is the lighter way to a limit. Its operations
/// start in order only as far as the queue's own settings say, so this context promises no order.
public struct OperationQueueContext: ExecutionContext {
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
