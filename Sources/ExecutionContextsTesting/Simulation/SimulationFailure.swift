/// What a simulation found, with the schedule that shows it.
///
/// `description` is for people: what happened, who had the turn when, who waits for whom, and how to replay it.
public struct SimulationFailure: Error, Sendable, CustomStringConvertible {
    /// What kind of thing was found.
    public enum Kind: String, Hashable, Sendable, CaseIterable {
        /// Some wait for each other, for ever.
        case deadlock = "a deadlock"
        /// Somebody waits, and nobody is left who could wake it.
        case lostWakeUp = "a lost wake-up"
        /// The program does not come to an end.
        case endless = "no end"
        /// Two take locks in opposite orders, although no schedule that was tried shows a deadlock.
        case lockOrder = "a lock-order inversion"
        /// Work or delays are left when everybody has ended.
        case leftover = "leftover work"
        /// Something that must hold does not.
        case invariant = "a broken invariant"
        /// No order of the operations of a `History` explains what they answered.
        case history = "a history that is not linearizable"
        /// A body has thrown an error.
        case threw = "an error"
        /// Something simulated was used by a thread that the simulation does not control (law 33).
        case foreign = "a foreign thread"
        /// A body has blocked its thread outside of what the simulation controls (law 33).
        case blocked = "a blocked thread"
        /// One schedule ended in two ways: something outlives a schedule, or depends on more than it (law 33).
        case nondeterminism = "nondeterminism"
        /// A replay found nothing, and could not go the way of its token: the program is another one by now (law 33).
        case unfit = "a token that does not fit"
        /// The simulation was asked for what it cannot do.
        case misuse = "misuse"
    }

    /// What kind of thing was found.
    public let kind: Kind
    /// The name of the simulation.
    public let simulation: String
    /// What happened, in a sentence.
    public let happened: String
    /// The number of the schedule that showed it first, from 1; 0 where none was begun.
    public let schedule: Int
    /// At how many points the turn went elsewhere than it would by itself, after shrinking.
    public let switches: Int
    /// Replays it: an argument of `simulate`, or the environment's `EXECUTION_CONTEXTS_REPLAY`. Nil where nothing would.
    public let token: String?
    /// Who had the turn when, and what they did, line by line.
    public let story: [String]

    public var description: String {
        var lines = ["Simulation '\(simulation)' found \(kind.rawValue): \(happened)"]
        if schedule > 0 {
            let count = switches == 1 ? "1 switch" : "\(switches) switches"
            lines.append("Found in schedule \(schedule), by \(count):")
        }
        lines += story.map { "  " + $0 }
        if let token {
            lines.append("Replay it with EXECUTION_CONTEXTS_REPLAY=\(token), or with replay: \"\(token)\".")
        }
        return lines.joined(separator: "\n")
    }
}

/// What a search did and found.
public struct SimulationReport: Sendable {
    /// How many schedules were run, without those that shrinking and checking took.
    public let schedules: Int
    /// Whether there was none left to try; only the exhaustive strategy can know.
    public let isComplete: Bool
    /// What was found.
    public let failure: SimulationFailure?
}
