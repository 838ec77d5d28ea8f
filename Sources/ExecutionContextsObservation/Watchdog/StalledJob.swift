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
    /// The name of the context.
    public let context: String
    /// How long it has lasted at the time of the report, in the time of the context.
    public let lasted: Duration
    /// The limit that it has exceeded.
    public let limit: Duration

    public var description: String {
        let what = phase == .waiting ? "has waited for" : "has held"
        return "Job \(job) \(what) '\(context)' for \(JSONText.duration(lasted)), and the limit is "
            + "\(JSONText.duration(limit))."
    }
}
