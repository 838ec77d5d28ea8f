/// How the simulation chooses the schedules that it tries.
public struct SimulationStrategy: Hashable, Sendable {
    enum Kind: Hashable {
        case random, walk, sampling, priorities(depth: Int), portfolio, exhaustive(switches: Int),
            orders
    }

    let kind: Kind

    /// Any thread may run next at every point, with frequent switches in some schedules and few in
    /// others.
    public static let random = SimulationStrategy(kind: .random)

    /// Weights each thread by its remaining operations, so that all interleavings are about equally
    /// likely: of all operations, or of those on some objects that threads share.
    public static let walk = SimulationStrategy(kind: .walk)

    /// Gives each operation a random priority, so that all orders of the operations that conflict
    /// are about equally likely.
    public static let sampling = SimulationStrategy(kind: .sampling)

    /// Gives the threads random priorities, which change at `depth - 1` random points; finds bugs
    /// that need few switches.
    public static func priorities(depth: Int) -> SimulationStrategy {
        SimulationStrategy(kind: .priorities(depth: max(depth, 1)))
    }

    /// Alternates between walk, sampling and priorities with depths 2 and 5, each of which finds
    /// bugs that the others rarely find; and reverses the order of two operations in earlier
    /// schedules, one pair after the other.
    public static let portfolio = SimulationStrategy(kind: .portfolio)

    /// Every order of the program's operations that can make a difference, once, without a limit on
    /// switches; for small programs.
    ///
    /// Operations on different objects, and two reads of one, are tried in one order only. If the
    /// report's `isComplete` is true and no failure was found, no order fails. The simulation does
    /// not see plain variables that threads share without a lock.
    public static let exhaustive = SimulationStrategy(kind: .orders)

    /// Every schedule with at most `switches` switches, those with fewer first; for small programs.
    public static func exhaustive(switches: Int) -> SimulationStrategy {
        SimulationStrategy(kind: .exhaustive(switches: max(switches, 0)))
    }
}

/// When simulated time advances.
public enum SimulationTime: Hashable, Sendable {
    /// When no thread can run, to the next deadline. So no time limit is ever too short.
    case whenIdle
    /// Also while threads could run, so that delays and time limits race with jobs.
    case racing
}
