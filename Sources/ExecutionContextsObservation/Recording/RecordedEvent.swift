public import ExecutionContexts

/// One event of a job, as a recorder stores it.
public struct RecordedEvent: Hashable, Sendable {
    /// What happened to the job.
    public enum Kind: UInt8, Sendable {
        /// It was submitted.
        case enqueued
        /// It began to run.
        case started
        /// It ended.
        case finished
        /// Its context dropped it, and it never ran.
        case abandoned
    }

    /// What happened to the job.
    public let kind: Kind
    /// The job.
    public let job: ObservedWork.Identity
    /// The name of its context, or of the `Async`.
    public let context: String
    /// When it happened, in the time of its context.
    public let instant: ContextInstant
    /// The library's own number of the thread that it happened on; reused after the thread has
    /// ended.
    public let thread: Int

    init(_ entry: RecorderEntry, in context: String) {
        kind = entry.kind
        job = entry.job
        self.context = context
        instant = ContextInstant(nanoseconds: entry.moment)
        thread = Int(entry.thread)
    }
}
