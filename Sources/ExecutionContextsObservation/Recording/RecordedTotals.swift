public import ExecutionContexts

/// The statistics of one context, over the jobs that a recorder still stores.
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
    /// How long the started jobs waited.
    public let waits: Percentiles
    /// How long the ended jobs ran.
    public let runs: Percentiles
    /// The job that ran for the longest time.
    public let longest: ObservedWork.Identity?
    /// The greatest number of jobs that waited at one time.
    public let greatestDepth: Int

    /// How long the longest job ran, and so occupied the context if that is a serial one.
    public var longestHold: Duration { runs.max }

    /// The percentiles of a set of durations.
    public struct Percentiles: Hashable, Sendable {
        /// The median: half of the durations are at most this long.
        public let p50: Duration
        /// 90 of 100 durations are at most this long.
        public let p90: Duration
        /// 99 of 100 durations are at most this long.
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
}
