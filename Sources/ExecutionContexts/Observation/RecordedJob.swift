/// One event of a job, as a recorder keeps it.
public struct RecordedEvent: Hashable, Sendable {
    /// What happened to the job.
    public enum Kind: UInt8, Sendable {
        /// It was submitted.
        case enqueued
        /// It began to run.
        case started
        /// It had run.
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
    public let moment: Moment
    /// The library's own number of the thread that it happened on; reused after the thread has
    /// ended.
    public let thread: Int

    init(_ entry: RecorderEntry, in context: String) {
        kind = entry.kind
        job = entry.job
        self.context = context
        moment = Moment(nanoseconds: entry.moment)
        thread = Int(entry.thread)
    }
}

/// What a recorder knows of a job, or of an `Async` that reports to it.
public struct RecordedJob: Identifiable, Hashable, Sendable {
    /// How far it came.
    public enum State: String, Sendable {
        /// It was submitted and has not started.
        case waiting
        /// It has started and not ended.
        case running
        /// It has run; an `Async` has completed.
        case finished
        /// Its context dropped it, and it never ran.
        case abandoned
    }

    /// The identity of the job, unique in the process.
    public let id: ObservedWork.Identity
    /// The name of its context, or of the `Async`.
    public let context: String
    /// Whether it is an `Async`, which takes time and occupies no context.
    public let isAsync: Bool
    /// How far it came.
    public internal(set) var state: State
    /// When it was submitted; of an `Async`, when `recorded(by:as:)` was called.
    public let enqueued: Moment
    /// When it started, if it has.
    public internal(set) var started: Moment?
    /// When it ended or was abandoned, if it has been.
    public internal(set) var ended: Moment?
    /// The library's own number of the thread that it ran on.
    ///
    /// Until it runs, the number of the thread that submitted it.
    public internal(set) var thread: Int
    /// The job that submitted it, if that job is observed.
    public let submitter: ObservedWork.Identity?
    /// The job that it waited behind.
    ///
    /// It is the job that occupied the context when this one was submitted, or else the last
    /// waiting job. Nil if there was none. Also nil if that job had not ended when this one
    /// started: then the two ran in parallel.
    public internal(set) var behind: ObservedWork.Identity?
    /// Of an `Async`: the observed job that completed it, and so called its immediate callbacks, if
    /// any.
    public internal(set) var completer: ObservedWork.Identity?

    /// How long it waited, if it has started or was abandoned.
    public var waited: Duration? { (started ?? ended).map { enqueued.duration(to: $0) } }

    /// How long it ran, if it has ended.
    public var ran: Duration? {
        guard let started, let ended else { return nil }
        return started.duration(to: ended)
    }
}

/// The statistics of one context, over the jobs that a recorder still keeps.
public struct RecordedTotals: Sendable {
    /// The name of the context, or of the `Async`s.
    public let context: String
    /// Whether these are `Async`s, whose run times are the times to their completion.
    public let isAsync: Bool
    /// The number of jobs.
    public let count: Int
    /// The number of jobs that were submitted and have neither started nor been abandoned.
    public let waiting: Int
    /// The number of jobs that have started and not ended.
    public let running: Int
    /// The number of jobs that never ran because their context dropped them.
    public let abandoned: Int
    /// How long the started jobs had waited.
    public let waits: Percentiles
    /// How long the ended jobs had run.
    public let runs: Percentiles
    /// The job that ran for the longest time.
    public let longest: ObservedWork.Identity?
    /// The greatest number of jobs that waited at one time.
    public let greatestDepth: Int

    /// How long the longest job ran, and so occupied the context if that is a serial one.
    public var longestHold: Duration { runs.max }
}

/// The percentiles of a set of durations.
public struct Percentiles: Hashable, Sendable {
    /// The median.
    public let p50: Duration
    /// The 90th percentile.
    public let p90: Duration
    /// The 99th percentile.
    public let p99: Duration
    /// The longest duration; zero if there is none.
    public let max: Duration

    init(nanoseconds: [Int64]) {
        let sorted = nanoseconds.sorted()
        // Nearest rank: the smallest duration that at least `percent` of them do not exceed,
        // without interpolation.
        func atMost(_ percent: Int) -> Duration {
            guard !sorted.isEmpty else { return .zero }
            return .nanoseconds(sorted[(sorted.count * percent + 99) / 100 - 1])
        }
        p50 = atMost(50)
        p90 = atMost(90)
        p99 = atMost(99)
        max = atMost(100)
    }
}
