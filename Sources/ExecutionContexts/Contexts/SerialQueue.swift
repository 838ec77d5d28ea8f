public import Dispatch

/// Runs work on a serial dispatch queue of its own, one piece at a time, in order (law 2).
///
/// `.global.serial("name")` is a lighter view with the same promise; a queue is for those who must hand one
/// to a system API, which takes `queue`.
public final class SerialQueueContext: SerialContext, SynchronousContext {
    /// The queue that the work runs on.
    public let queue: DispatchQueue
    private let mark: QueueMark

    /// Makes a context with a serial queue of its own, which may target another queue.
    public init(label: String, qos: DispatchQoS = .unspecified, target: DispatchQueue? = nil) {
        queue = DispatchQueue(label: label, qos: qos, target: target)
        mark = QueueMark(queue)
    }

    public func execute(_ work: @escaping Work) { queue.async(execute: work) }

    /// Waits for `body` to run in its turn; from the queue's own work it runs at once, as a part of it.
    public func sync<Value, Failure: Error>(
        _ body: () throws(Failure) -> Value
    ) throws(Failure) -> Value {
        // A frame as well as the key: the key is hidden by a nested `sync` to another queue (law 4).
        let owner = unsafe Frame.owner(self)
        if unsafe isCurrent == true || Frame.isCurrent(owner) { return try body() }
        return try queue.sync {
            Result { () throws(Failure) -> Value in try unsafe Frame.enter(owner, body) }
        }.get()
    }

    /// Yes on this queue and on queues that target it, otherwise not known (law 4).
    public var isCurrent: Bool? { mark.isCurrent }

    public func checkIsCurrent() -> Bool {
        dispatchPrecondition(condition: .onQueue(queue))
        return true
    }

    public var name: String { queue.label }
}

extension ExecutionContext where Self == SerialQueueContext {
    /// A new serial dispatch queue.
    public static func serial(
        label: String, qos: DispatchQoS = .unspecified, target: DispatchQueue? = nil
    ) -> SerialQueueContext {
        SerialQueueContext(label: label, qos: qos, target: target)
    }
}
