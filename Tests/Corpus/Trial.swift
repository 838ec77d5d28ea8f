import ExecutionContextsTesting
import SeededBugs

/// What the simulator made of one bug and its twin.
struct Trial: Sendable {
    let bug: SeededBug
    /// The schedule in which each seed showed it, in ascending order.
    private(set) var found: [Int] = []
    /// How many switches each seed's schedule had at last.
    private(set) var switches: [Int] = []
    private(set) var exactReplays = 0
    private(set) var time = Duration.zero
    /// What is not as it should be.
    private(set) var complaints: [String] = []

    /// Searches from so many seeds, and runs the twin under so many schedules.
    init(_ bug: SeededBug, seeds: Int, schedules: Int) {
        self.bug = bug
        time = ContinuousClock().measure {
            for seed in 0..<seeds { find(seed: UInt64(seed)) }
            found.sort()
            if let failure = bug.search(isMended: true, schedules: schedules).failure {
                complaints.append("its twin fails: \(failure)")
            }
        }
    }

    private mutating func find(seed: UInt64) {
        guard let failure = bug.search(seed: seed).failure, let token = failure.token else {
            return complaints.append("seed \(seed) does not find it")
        }
        found.append(failure.schedule)
        switches.append(failure.switches)
        if !bug.kinds.contains(failure.kind) {
            complaints.append("seed \(seed) finds \(failure.kind.rawValue)")
        }
        if failure.switches > max(bug.depth, 3) {
            complaints.append("seed \(seed) needs \(failure.switches) switches")
        }
        if bug.search(replay: token).failure?.isLike(failure) == true {
            exactReplays += 1
        } else {
            complaints.append("seed \(seed) does not replay: \(token)")
        }
    }
}

extension SimulationFailure {
    /// Whether the same happened, step by step.
    func isLike(_ other: SimulationFailure) -> Bool {
        kind == other.kind && happened == other.happened && story == other.story && token == other.token
    }
}

extension [Int] {
    /// The value that this part of them, which are sorted, does not exceed.
    func percentile(_ part: Int) -> Int {
        isEmpty ? 0 : self[Swift.min((count * part + 99) / 100, count) - 1]
    }
}
