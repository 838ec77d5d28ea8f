/// A failure that a simulation found, with the schedule that shows it.
///
/// `description` is for a reader: it states what happened, which thread ran when, which threads
/// wait for each other, and how to replay the schedule.
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
        /// A continuation is resumed although it was resumed before.
        case resumedTwice = "a continuation resumed twice"
        /// A declared condition does not hold.
        case invariant = "a broken invariant"
        /// No order of the operations of a `History` explains their answers.
        case history = "a history that is not linearizable"
        /// A body has thrown an error.
        case threw = "an error"
        /// A thread that the simulation does not control has used a simulated object (law 33).
        case foreign = "a foreign thread"
        /// A body has blocked its thread outside of the simulation's control (law 33).
        case blocked = "a blocked thread"
        /// Two runs of one schedule differ: some state outlives a schedule, or depends on more than
        /// it (law 33).
        case nondeterminism = "nondeterminism"
        /// A replay found nothing and did not follow its token: the program has changed, or depends
        /// on more than the schedule (law 33).
        case unfit = "a token that does not fit"
        /// No order of the program could make a difference that the search sees, so that its
        /// success would mean nothing (law 33).
        case vacuous = "nothing to search"
        /// A parameter, or a use of the simulation, is invalid.
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
    /// What each thread did, in order: a column for each thread, and an arrow where another thread
    /// runs next.
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

    /// The same as a page for a browser: a lane for each thread, and an arrow for each switch.
    ///
    /// It follows the browser's light or dark mode, and needs no script and no other files.
    public var page: String {
        story.page(
            title: "Simulation '\(simulation)' found \(kind.rawValue)", happened: happened,
            token: token)
    }
}

/// A failure found in one schedule.
struct Finding: Hashable, Sendable {
    var kind: SimulationFailure.Kind
    var message: String
}
