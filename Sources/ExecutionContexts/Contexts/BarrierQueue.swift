public import Dispatch

/// Runs work on a concurrent dispatch queue of its own, which keeps barriers (law 3).
public final class BarrierQueueContext: BarrierContext, SynchronousContext {
    /// The queue that the work runs on.
    public let queue: DispatchQueue
    private let mark: QueueMark

    /// Makes a context with a concurrent queue of its own.
    public init(label: String, qos: DispatchQoS = .unspecified) {
        // No target: a concurrent queue keeps its barriers only over a root of the system's.
        queue = DispatchQueue(label: label, qos: qos, attributes: .concurrent)
        mark = QueueMark(queue)
    }

    public func execute(_ work: @escaping Work) { queue.async(execute: work) }

    public func executeBarrier(_ work: @escaping Work) {
        queue.async(flags: .barrier) { self.exclusively(work) }
    }

    /// Waits for `body` to run beside other work; from the queue's own work it runs at once.
    public func sync<Value, Failure: Error>(
        _ body: () throws(Failure) -> Value
    ) throws(Failure) -> Value {
        if unsafe isCurrent == true || Frame.isCurrent(Frame.owner(self)) { return try body() }
        return try queue.sync { Result(catching: body) }.get()
    }

    /// Waits for `body` to run with nothing beside it; from within a barrier it runs at once.
    ///
    /// From within work that is no barrier it could never start, since it would wait for that work: the program
    /// stops with a sentence (law 3).
    public func syncBarrier<Value, Failure: Error>(
        _ body: () throws(Failure) -> Value
    ) throws(Failure) -> Value {
        if unsafe Frame.isCurrent(Frame.owner(self)) { return try body() }
        require(
            isCurrent != true,
            "A barrier on '\(name)' was waited for from within the context's own work, and would wait for "
                + "that work to end (law 3). Submit it with executeBarrier instead.")
        return try queue.sync(flags: .barrier) {
            Result { () throws(Failure) -> Value in try exclusively(body) }
        }.get()
    }

    /// Yes on this queue and on queues that target it, otherwise not known (law 4).
    public var isCurrent: Bool? { mark.isCurrent }

    public func checkIsCurrent() -> Bool {
        dispatchPrecondition(condition: .onQueue(queue))
        return true
    }

    public var name: String { queue.label }

    /// Marks the thread as inside a barrier, so that a nested one knows that it may run at once.
    private func exclusively<Value, Failure: Error>(
        _ body: () throws(Failure) -> Value
    ) throws(Failure) -> Value {
        try unsafe Frame.enter(Frame.owner(self), body)
    }
}

extension ExecutionContext where Self == BarrierQueueContext {
    /// A new concurrent dispatch queue, which keeps barriers.
    public static func barrier(
        label: String, qos: DispatchQoS = .unspecified
    ) -> BarrierQueueContext {
        BarrierQueueContext(label: label, qos: qos)
    }
}
