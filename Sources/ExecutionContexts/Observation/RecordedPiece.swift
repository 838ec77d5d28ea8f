/// One thing that happened to a piece of work, as a recorder keeps it.
public struct RecordedEvent: Hashable, Sendable {
    /// What happened.
    public enum Kind: UInt8, Sendable {
        /// It was submitted.
        case enqueued
        /// It began to run.
        case started
        /// It had run.
        case finished
        /// Its context let go of it, and it never ran.
        case abandoned
    }

    /// What happened.
    public let kind: Kind
    /// The piece.
    public let piece: ObservedWork.Identity
    /// The name of its context, or of the value.
    public let context: String
    /// When, in the time of its context.
    public let moment: Moment
    /// The number of the thread that it happened on: the library's own, used again when a thread has ended.
    public let thread: Int

    init(_ entry: RecorderEntry, in context: String) {
        kind = entry.kind
        piece = entry.piece
        self.context = context
        moment = Moment(nanoseconds: entry.moment)
        thread = Int(entry.thread)
    }
}

/// What a recorder knows of a piece of work, or of an `Async` that reports to it.
public struct RecordedPiece: Identifiable, Hashable, Sendable {
    /// How far it came.
    public enum State: String, Sendable {
        /// It was submitted and has not started.
        case waiting
        /// It has started and not ended.
        case running
        /// It has run; of an `Async`: it has been completed.
        case finished
        /// Its context let go of it, and it never ran.
        case abandoned
    }

    /// What tells it from every other one.
    public let id: ObservedWork.Identity
    /// The name of its context, or of the `Async`.
    public let context: String
    /// Whether it is an `Async`, which takes time and holds nothing.
    public let isAsync: Bool
    /// How far it came.
    public internal(set) var state: State
    /// When it was submitted; of an `Async`, when `recorded(by:as:)` was called.
    public let enqueued: Moment
    /// When it started, if it has.
    public internal(set) var started: Moment?
    /// When it ended or was abandoned, if it has been.
    public internal(set) var ended: Moment?
    /// The number of the thread that it ran on, or was submitted on as long as it has not; the library's own number.
    public internal(set) var thread: Int
    /// The piece that submitted it, if that is observed.
    public let submitter: ObservedWork.Identity?
    /// What it waited behind: the piece that held its context when it was submitted, or else the last one that waited.
    ///
    /// Nil where there was none, and where that one had not ended when this one started: it ran beside it.
    public internal(set) var behind: ObservedWork.Identity?
    /// Of an `Async`: the piece that completed it, and so called its immediate callbacks, if that is observed.
    public internal(set) var completer: ObservedWork.Identity?

    /// How long it waited, if it has started or was abandoned.
    public var waited: Duration? { (started ?? ended).map { enqueued.duration(to: $0) } }

    /// How long it ran, if it has ended.
    public var ran: Duration? {
        guard let started, let ended else { return nil }
        return started.duration(to: ended)
    }
}

/// What a recorder can tell of one context in numbers; of what it still keeps.
public struct RecordedTotals: Sendable {
    /// The name of the context, or of the `Async`s.
    public let context: String
    /// Whether these are `Async`s, whose runs are the times to their completion.
    public let isAsync: Bool
    /// How many pieces there are.
    public let count: Int
    /// How many have been submitted and have neither started nor been abandoned.
    public let waiting: Int
    /// How many have started and not ended.
    public let running: Int
    /// How many never ran because their context let go of them.
    public let abandoned: Int
    /// How long those that started had waited.
    public let waits: Percentiles
    /// How long those that ended had run.
    public let runs: Percentiles
    /// Which piece ran for the longest time.
    public let longest: ObservedWork.Identity?
    /// The most pieces that waited at one time.
    public let greatestDepth: Int

    /// How long the longest piece ran, and so held the context if that is a serial one.
    public var longestHold: Duration { runs.max }
}

/// How a set of durations is spread: so many of a hundred are no longer than each of these.
public struct Percentiles: Hashable, Sendable {
    /// Half of them are no longer.
    public let p50: Duration
    /// Nine of ten are no longer.
    public let p90: Duration
    /// 99 of a hundred are no longer.
    public let p99: Duration
    /// The longest; zero if there is none.
    public let max: Duration

    init(nanoseconds: [Int64]) {
        let sorted = nanoseconds.sorted()
        // The smallest of them that so many are no longer than: always one of them, never something between.
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
