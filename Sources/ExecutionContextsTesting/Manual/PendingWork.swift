public import ExecutionContexts
internal import ExecutionContextsDiagnostics

/// One job or delay that is pending in a manual time.
public struct PendingWork: Hashable, Sendable, CustomStringConvertible {
    /// The name of the context, or of the view, that it runs on.
    public let context: String
    /// When it is due; for a ready job, when it became ready.
    public let due: ContextInstant
    /// Whether it is ready to run without advancing time.
    public let isReady: Bool
    /// Where a delay was set.
    private let delayLocation: String?
    /// Where a ready job comes from.
    private let source: JobSource
    /// The source location where it was submitted or written, as file and line; nil if that is
    /// unknown.
    ///
    /// It is known for delays and repetitions, before and after they are due, and for the jobs of
    /// `submit` and `run`. A job of plain `execute` has the place of its closure, as observers
    /// receive it. A sleep has none.
    public var sourceLocation: String? { delayLocation ?? source.place.text }
    /// How much later than due it may run, as its submitter allows.
    public let tolerance: Duration
    /// Whether it belongs to a background context, whose jobs `runUntilIdle` does not wait for.
    public let isBackground: Bool

    public var description: String {
        let moment = Duration.nanoseconds(due.nanoseconds)
        let kind = isReady ? "work" : delayLocation == nil ? "a sleep" : "a delay"
        let when = isReady ? "ready since \(moment)" : "due at \(moment)"
        return "\(kind) on '\(context)', \(when)"
            + (sourceLocation.map { ", submitted at \($0)" } ?? "")
    }

    private init(
        _ context: String, due: ContextInstant, isReady: Bool, delayLocation: String?,
        _ source: JobSource, tolerance: Duration, isBackground: Bool
    ) {
        self.context = context
        self.due = due
        self.isReady = isReady
        self.delayLocation = delayLocation
        self.source = source
        self.tolerance = tolerance
        self.isBackground = isBackground
    }
}

extension PendingWork {
    init(_ job: ManualReadyQueue.Job, of queue: ManualReadyQueue) {
        self.init(
            queue.name, due: job.since, isReady: true,
            delayLocation: job.delay?.knownSourceLocation, JobSource(of: job.work),
            tolerance: .zero, isBackground: queue.isBackground)
    }

    init(
        _ delay: DelayedWork, fireTime: ContextInstant, tolerance: Duration,
        queue: ManualReadyQueue?
    ) {
        self.init(
            delay.contextName, due: fireTime, isReady: false,
            delayLocation: delay.knownSourceLocation, .unknown, tolerance: tolerance,
            isBackground: queue?.isBackground ?? false)
    }

    init(_ entry: DelayHeap.Entry) {
        self.init(
            entry.delay, fireTime: entry.fireTime, tolerance: entry.tolerance, queue: entry.queue)
    }
}

extension DelayedWork {
    /// The source location where it was scheduled; nil for a delay without one, such as a sleep.
    var knownSourceLocation: String? { place.call.isEmpty ? nil : sourceLocation }
}
