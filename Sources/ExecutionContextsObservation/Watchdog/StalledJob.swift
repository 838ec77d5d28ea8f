internal import ExecutionContexts
internal import ExecutionContextsDiagnostics

/// A job that waits for its context, or occupies it, for longer than the limit; it represents all
/// jobs delayed by the same cause: see `watched`.
public struct StalledJob: Hashable, Sendable, CustomStringConvertible {
    /// What exceeds the limit.
    public enum Phase: String, Sendable {
        /// The job was submitted and has not started.
        case waiting
        /// The job has started and not ended.
        case running
    }

    /// What exceeds the limit.
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
    /// The job in front of a waiting one: the running job of the view that started first.
    ///
    /// Nil if none runs. Then the context has no thread, or is occupied by a job that is not of the
    /// view. Also nil for a running job, which is itself in front of the waiting ones.
    public let front: Front?
    /// How many jobs of the view wait for the context, a waiting one included.
    public let waiting: Int

    /// A job that occupies the context of a waiting one.
    public struct Front: Hashable, Sendable {
        /// The number of the job in the watched view.
        public let job: UInt64
        let source: JobSource
        /// How long it had run at the time of the report.
        public let lasted: Duration

        init(_ entry: WatchedJobList.Entry, _ now: ContextInstant) {
            (job, source) = (entry.number, entry.source)
            lasted = entry.since.duration(to: now)
        }

        /// The name of the job: see `StalledJob.name`.
        public var name: String { source.name(ofJob: job) }

        /// The label that its submission carries: see `ObservedWork.label`.
        public var label: String? { source.shownLabel }

        /// Where the job was written, as file and line: see `ObservedWork.sourceLocation`.
        public var sourceLocation: String? { source.place.text }
    }

    /// The job's label, or else where it was written, or else "#" and its number.
    public var name: String { source.name(ofJob: job) }

    /// The label that its submission carries: see `ObservedWork.label`.
    public var label: String? { source.shownLabel }

    /// Where the job was written, as file and line: see `ObservedWork.sourceLocation`.
    public var sourceLocation: String? { source.place.text }

    public var description: String {
        let what = phase == .waiting ? "has waited for" : "has held"
        var text =
            "Job \(Self.words(job, source)) \(what) '\(context)' for \(JSONText.duration(lasted)), "
            + "and the limit is \(JSONText.duration(limit))."
        if let front {
            let job = Self.words(front.job, front.source)
            text += " In front is job \(job), for \(JSONText.duration(front.lasted))."
        } else if phase == .waiting {
            text += " No job of the view is in front."
        }
        if waiting > (phase == .waiting ? 1 : 0) {
            text += " \(waiting) job\(waiting == 1 ? "" : "s") wait\(waiting == 1 ? "s" : "")."
        }
        return text
    }

    private static func words(_ job: UInt64, _ source: JobSource) -> String {
        "\(job)\(source.title.map { " (\($0))" } ?? "")"
    }
}
