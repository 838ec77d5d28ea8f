public import Dispatch

/// Runs work on a dispatch queue that you made: `queue.context`.
///
/// A queue does not report whether it is serial, so neither does this context.
/// `.serial(named:target:)` and `.barrier(named:target:)` make queues that do, on top of one you
/// have. Work for a suspended queue waits until it is resumed.
public struct QueueContext: ExecutionContext {
    /// The queue that the work runs on.
    public let queue: DispatchQueue
    private let mark: QueueMark

    /// Makes a context that runs its work on a dispatch queue.
    public init(_ queue: DispatchQueue) {
        self.queue = queue
        mark = .of(queue)
    }

    public func execute(_ work: consuming @escaping Work) {
        SimulationHooks.willSubmitOutside(to: name)
        let job = unsafe QueueJob(consume work, of: mark.running)
        queue.async { job.run() }
    }

    /// Yes on this queue and on queues that target it, otherwise not known (law 4).
    public var isCurrent: Bool? { mark.isOccupied ? true : nil }

    public func checkIsCurrent() -> Bool {
        dispatchPrecondition(condition: .onQueue(queue))
        return true
    }

    public var name: String { queue.label }

    public var facts: ContextFacts {
        var facts = ContextFacts { foresee(&$0) }
        facts.queue = queue
        return facts
    }

    private func foresee(_ forecast: inout WaitForecast) {
        if isCurrent == true { forecast.ask(queue) }
    }
}

extension DispatchQueue {
    /// This queue as a context.
    public var context: QueueContext { QueueContext(self) }
}
