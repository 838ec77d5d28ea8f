public import ExecutionContexts

/// One job or delay that is pending in a manual time.
public struct PendingWork: Hashable, Sendable, CustomStringConvertible {
    /// The name of the context, or of the view, that it runs on.
    public let context: String
    /// When it is due; for a ready job, when it became ready.
    public let due: ContextInstant
    /// Whether it is ready to run without advancing time.
    public let isReady: Bool
    /// The source location where it was submitted, as file and line; nil if that is unknown.
    ///
    /// It is known for delays and repetitions, before and after they are due. Plain `execute`
    /// records no source location, and a sleep has none.
    public let sourceLocation: String?
    /// How much later than due it may come, as its submitter allows.
    public let tolerance: Duration
    /// Whether it belongs to a background context, whose jobs `runUntilIdle` does not wait for.
    public let isBackground: Bool

    public var description: String {
        let moment = Duration.nanoseconds(due.nanoseconds)
        let kind = isReady ? "work" : sourceLocation == nil ? "a sleep" : "a delay"
        let when = isReady ? "ready since \(moment)" : "due at \(moment)"
        return "\(kind) on '\(context)', \(when)"
            + (sourceLocation.map { ", submitted at \($0)" } ?? "")
    }
}

extension PendingWork {
    init(_ job: ManualReadyQueue.Job, of queue: ManualReadyQueue) {
        self.init(
            context: queue.name, due: job.since, isReady: true,
            sourceLocation: job.delay?.knownSourceLocation,
            tolerance: .zero,
            isBackground: queue.isBackground)
    }

    init(
        _ delay: DelayedWork, fireTime: ContextInstant, tolerance: Duration,
        queue: ManualReadyQueue?
    ) {
        self.init(
            context: delay.contextName, due: fireTime, isReady: false,
            sourceLocation: delay.knownSourceLocation,
            tolerance: tolerance,
            isBackground: queue?.isBackground ?? false)
    }

    init(_ entry: DelayHeap.Entry) {
        self.init(
            entry.delay, fireTime: entry.fireTime, tolerance: entry.tolerance, queue: entry.queue)
    }
}

extension DelayedWork {
    /// The source location where it was scheduled; nil for a delay without one, such as a sleep.
    var knownSourceLocation: String? { sourceLocation == ":0" ? nil : sourceLocation }
}
