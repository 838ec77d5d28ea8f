internal import ExecutionContexts

/// A job that waits for its context, or occupies it, for more than the limit: see `watched`.
public struct StalledJob: Hashable, Sendable, CustomStringConvertible {
    /// What lasts for so long.
    public enum Phase: String, Sendable {
        /// The job was submitted and has not started.
        case waiting
        /// The job has started and not ended.
        case running
    }

    /// What lasts for so long.
    public let phase: Phase
    /// The number of the job in the watched view, in the order of submission, from 1.
    public let job: UInt64
    let source: JobSource
    /// The name of the context.
    public let context: String
    /// How long it has lasted at the time of the report, in the time of the context.
    public let lasted: Duration
    /// The limit that it has exceeded.
    public let limit: Duration

    /// What the job is called: its label, or else where it was written, or else "#" and its number.
    public var name: String { source.name(ofJob: job) }

    /// The label that its submission carries: see `ObservedWork.label`.
    public var label: String? { source.shownLabel }

    /// Where the job was written, as file and line: see `ObservedWork.sourceLocation`.
    public var sourceLocation: String? { source.place.text }

    public var description: String {
        let what = phase == .waiting ? "has waited for" : "has held"
        let name = source.title
        return
            "Job \(job)\(name.map { " (\($0))" } ?? "") \(what) '\(context)' for \(JSONText.duration(lasted)), and the limit is "
            + "\(JSONText.duration(limit))."
    }
}
