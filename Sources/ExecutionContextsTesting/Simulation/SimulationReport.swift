/// The result of a search.
///
/// `description` states what was tried, and what was not.
public struct SimulationReport: Sendable, CustomStringConvertible {
    /// The name of the simulation.
    public let simulation: String
    /// How many schedules were run, without those for shrinking and checking.
    public let schedules: Int
    /// How many of them differed from all earlier ones, in a decision about threads, time or
    /// chances.
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
    /// How many distinct orders of the program's operations were run: two schedules have the same
    /// order if no thread could distinguish them. Only `.exhaustive` counts them.
    public let orders: Int?
    /// How many reversals the portfolio has found in some of its schedules: of a pair of operations
    /// whose order made a difference, the other order; of a chance, the other answer.
    ///
    /// Nil for the other strategies, and with `time: .racing`.
    public let reversals: Int?
    /// How many of these reversals had a schedule of their own.
    public let triedReversals: Int?
    /// The conflicting operations of the schedules whose steps were examined, and the orders in
    /// which they happened.
    ///
    /// These are all schedules of `.exhaustive`, and those in which the portfolio reverses. Nil for
    /// the other strategies, and with `time: .racing`. Only objects that the program named, or
    /// whose place in it is known, are listed, and 10,000 pairs at most.
    public let pairs: [ConflictingPair]?
    /// Whether no schedule was left to try; only the exhaustive strategies can know.
    public let isComplete: Bool
    /// How often a task changed its executor without a scheduling point.
    ///
    /// This happens where an executor of the program's own runs the task. Nil where the platform
    /// does not report it: on Apple's, a task that changes from one actor to another passes no
    /// scheduling point.
    public let missedChanges: Int?
    /// The failure, if one was found.
    public let failure: SimulationFailure?
    /// What the program has used that the search does not control.
    package let met: Uncontrolled
    /// When simulated time advanced.
    let time: SimulationTime
    /// Whether it is of one schedule that a token gave, so that choices were not counted.
    package var isReplay = false

    public var description: String {
        if let failure { return failure.description }
        return sentences.map { $0 + "." }.joined(separator: " ")
    }

    /// What was tried, and what was not.
    var sentences: [String] {
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
        if let pairs, !pairs.isEmpty {
            let both = pairs.count { $0.reversed > 0 }
            sentences.append(
                "\(Self.count(pairs.count, "pair")) of operations conflicted, and \(both) came in both orders"
            )
        }
        if isComplete { sentences.append("No schedule is left to try") }
        sentences.append(
            choices == 0
                ? "One thread at a time could run, so orders were not tested"
                : "Another thread could have run at \(Self.count(choices, "point")) of the first schedule"
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
            sentences.append(
                "Changes of actor passed no scheduling point, since the runtime's function for them cannot be replaced here"
            )
        }
        if !isComplete {
            sentences.append(
                "Uses of variables and atomics, and of a Mutex that is free, are no scheduling points"
            )
        }
        if !met.isEmpty { sentences.append(met.text) }
        return sentences
    }

    private static func count(_ number: Int, _ noun: String) -> String {
        "\(number) \(noun)\(number == 1 ? "" : "s")"
    }
}
