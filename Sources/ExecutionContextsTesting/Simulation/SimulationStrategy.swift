/// How the simulation chooses the schedules that it tries.
public struct SimulationStrategy: Hashable, Sendable {
    enum Way: Hashable { case random, walk, priorities(depth: Int), portfolio, exhaustive(switches: Int) }

    let way: Way

    /// At every point the turn may go to any lane, in some schedules often and in some seldom.
    public static let random = SimulationStrategy(way: .random)

    /// A lane is chosen by how much it has still to do, so that each interleaving is about as likely as each other.
    public static let walk = SimulationStrategy(way: .walk)

    /// The lanes have random priorities, which change at `depth - 1` random points; finds what needs so few.
    public static func priorities(depth: Int) -> SimulationStrategy {
        SimulationStrategy(way: .priorities(depth: max(depth, 1)))
    }

    /// All of the above in turn, with depths 2 and 3: each finds what the others hardly do.
    public static let portfolio = SimulationStrategy(way: .portfolio)

    /// Every schedule with at most so many switches, those with fewer first; for small programs.
    public static func exhaustive(switches: Int) -> SimulationStrategy {
        SimulationStrategy(way: .exhaustive(switches: max(switches, 0)))
    }
}

/// When simulated time goes on.
public enum SimulationTime: Hashable, Sendable {
    /// When nobody can go on, to the next moment at which something is due. So no time limit is ever too short.
    case whenIdle
    /// As above; and the clock may go on while others could work, so that delays and time limits race with work.
    case racing
}
