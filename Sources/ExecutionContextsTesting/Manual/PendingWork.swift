public import ExecutionContexts

/// One piece of work that waits in a manual time: to be run, or for its moment.
public struct PendingWork: Hashable, Sendable, CustomStringConvertible {
    /// The name of the context, or of the view, that it is to run on.
    public let context: String
    /// When it is due. Of ready work, when it became so.
    public let due: Moment
    /// Whether it is ready to run, so that no time need pass.
    public let isReady: Bool
    /// Where it was submitted, as file and line, as far as that is known.
    ///
    /// Known of delays and repetitions, before and after they are due. Plain `execute` takes no place, and a sleep has
    /// none.
    public let origin: String?
    /// How much later than due it may come, by its submitter's leave.
    public let tolerance: Duration
    /// Whether it belongs to a context whose work keeps nobody from being idle.
    public let isBackground: Bool

    public var description: String {
        let moment = Duration.nanoseconds(due.nanoseconds)
        let kind = isReady ? "work" : origin == nil ? "a sleep" : "a delay"
        let when = isReady ? "ready since \(moment)" : "due at \(moment)"
        return "\(kind) on '\(context)', \(when)" + (origin.map { ", submitted at \($0)" } ?? "")
    }
}

extension PendingWork {
    init(_ piece: ManualLine.Piece, of line: ManualLine) {
        self.init(
            context: line.name, due: piece.since, isReady: true, origin: piece.delay?.place, tolerance: .zero,
            isBackground: line.isBackground)
    }

    init(_ delay: DelayedWork, comes: Moment, tolerance: Duration, line: ManualLine?) {
        self.init(
            context: delay.contextName, due: comes, isReady: false, origin: delay.place, tolerance: tolerance,
            isBackground: line?.isBackground ?? false)
    }

    init(_ waiting: DelayHeap.Waiting) {
        self.init(waiting.delay, comes: waiting.comes, tolerance: waiting.tolerance, line: waiting.line)
    }
}

extension DelayedWork {
    /// Where it was scheduled; nil for what has no place, such as a sleep.
    var place: String? { origin == ":0" ? nil : origin }
}
