/// A failure that a simulation found, with the schedule that shows it.
///
/// `description` is for a reader: it says what happened, which thread ran when, which thread waits
/// for which, and how to replay the schedule.
public struct SimulationFailure: Error, Sendable, CustomStringConvertible {
    /// The kinds of failures.
    public enum Kind: String, Hashable, Sendable, CaseIterable {
        /// Several threads wait for each other for ever.
        case deadlock = "a deadlock"
        /// A thread waits, and no thread is left that could wake it.
        case lostWakeUp = "a lost wake-up"
        /// The program does not end.
        case endless = "no end"
        /// Two threads take locks in opposite orders, although no schedule that was tried shows a
        /// deadlock.
        case lockOrder = "a lock-order inversion"
        /// Work or delays are left when all threads and tasks have ended.
        case leftover = "leftover work"
        /// Two threads use a `Shared` variable at the same time, and at least one writes it.
        case dataRace = "a data race"
        /// A declared condition does not hold.
        case invariant = "a broken invariant"
        /// No order of the operations of a `History` explains their answers.
        case history = "a history that is not linearizable"
        /// A body has thrown an error.
        case threw = "an error"
        /// A thread that the simulation does not control has used a simulated object (law 33).
        case foreign = "a foreign thread"
        /// A body has blocked its thread outside of what the simulation controls (law 33).
        case blocked = "a blocked thread"
        /// One schedule ended in two ways: some state outlives a schedule, or depends on more than
        /// it (law 33).
        case nondeterminism = "nondeterminism"
        /// A replay found nothing and did not follow its token: the program has changed, or depends
        /// on more than the schedule (law 33).
        case unfit = "a token that does not fit"
        /// The simulation was asked for something that it cannot do.
        case misuse = "misuse"
    }

    /// The kind of failure.
    public let kind: Kind
    /// The name of the simulation.
    public let simulation: String
    /// What happened, in a sentence.
    public let happened: String
    /// The number of the schedule that first showed it, from 1; 0 if none was begun.
    public let schedule: Int
    /// The number of switches after shrinking: points at which another thread ran next than by
    /// default.
    public let switches: Int
    /// Replays the failure, as an argument of `simulate` or in the environment's
    /// `EXECUTION_CONTEXTS_REPLAY`; nil if it cannot be replayed.
    public let token: String?
    /// What each thread did, in the order in which it happened: a column for each thread.
    public var trace: [String] { story.text(hasLocations: false) }
    /// The same, with the lines of the sources.
    let story: Story

    public var description: String {
        var lines = ["Simulation '\(simulation)' found \(kind.rawValue): \(happened)"]
        if schedule > 0 {
            let how =
                switch switches {
                case 0: "in the usual order"
                case 1: "by 1 switch"
                default: "by \(switches) switches"
                }
            lines.append("Found in schedule \(schedule), \(how):")
        }
        lines += story.text().map { "  " + $0 }
        if let token {
            lines.append(
                "Replay it with EXECUTION_CONTEXTS_REPLAY=\(token), or with replay: \"\(token)\".")
        }
        return lines.joined(separator: "\n")
    }

    /// The same as a page for a browser.
    public var page: String {
        story.page(
            title: "Simulation '\(simulation)' found \(kind.rawValue)", happened: happened,
            token: token)
    }
}

/// The result of a search.
///
/// `description` says what was tried, and what was not.
public struct SimulationReport: Sendable, CustomStringConvertible {
    /// How many schedules were run, without those for shrinking and checking.
    public let schedules: Int
    /// How many of them differed from all before, in a decision about threads, time or chances.
    public let distinctSchedules: Int
    /// At how many points of the first schedule another thread could have run.
    ///
    /// If it is zero, one schedule was possible, and the search shows nothing about orders.
    public let choices: Int
    /// At how many points of the first schedule a delay, a sleep or a time limit was pending while
    /// a thread could run.
    ///
    /// With `time: .whenIdle` none of them ends there, so it does not race with the program.
    public let pendingTimes: Int
    /// How many distinct orders of the program's operations these were: two schedules have the same
    /// one if no thread could tell them apart. Only `.exhaustive` counts them.
    public let orders: Int?
    /// How many reversals the portfolio has found in some of its schedules: of a pair of operations
    /// whose order made a difference, the other order; of a chance, the other answer.
    ///
    /// Nil for the other strategies, and with `time: .racing`.
    public let reversals: Int?
    /// How many of these reversals had a schedule of their own.
    public let triedReversals: Int?
    /// Whether no schedule was left to try; only the exhaustive strategies can know.
    public let isComplete: Bool
    /// How often a task went on with another executor, without a scheduling point between.
    ///
    /// So it does where an executor of the program's own runs the task. Nil where the platform does
    /// not tell: on Apple's, a task that changes from one actor to another passes no scheduling
    /// point.
    public let missedChanges: Int?
    /// The failure, if one was found.
    public let failure: SimulationFailure?
    /// When simulated time advanced.
    let time: SimulationTime

    public var description: String {
        if let failure { return failure.description }
        var sentences = ["Nothing was found in \(Self.count(schedules, "schedule"))"]
        if let orders { sentences[0] += ", \(Self.count(orders, "order"))" }
        if distinctSchedules < schedules {
            sentences[0] += ", \(distinctSchedules) of them distinct"
        }
        if let reversals, let triedReversals, reversals > 0 {
            sentences.append(
                "\(Self.count(reversals, "reversal")) of two operations or of a chance were found, and \(triedReversals) tried"
            )
        }
        if isComplete { sentences.append("No other is left to try") }
        sentences.append(
            choices == 0
                ? "One thread at a time could run, so orders were not tested"
                : "Another thread could have run at \(Self.count(choices, "point")) of the first one"
        )
        if pendingTimes > 0 && time == .whenIdle {
            sentences.append(
                "Delays and time limits were pending at \(Self.count(pendingTimes, "point")) of it, and did not race: "
                    + "'time: .racing' lets them")
        }
        if let missedChanges, missedChanges > 0 {
            sentences.append(
                "\(Self.count(missedChanges, "change")) of executor passed no scheduling point")
        } else if missedChanges == nil {
            sentences.append("Changes of actor passed no scheduling point on this platform")
        }
        return sentences.map { $0 + "." }.joined(separator: " ")
    }

    private static func count(_ number: Int, _ noun: String) -> String {
        "\(number) \(noun)\(number == 1 ? "" : "s")"
    }
}

/// A failure found in one schedule.
struct Finding: Hashable, Sendable {
    var kind: SimulationFailure.Kind
    var message: String
}
