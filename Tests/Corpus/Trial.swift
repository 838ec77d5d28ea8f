import ExecutionContextsTesting
import SeededBugs

/// The results of the simulator for one bug and its twin.
struct Trial: Sendable {
    let bug: SeededBug
    /// The schedule in which each seed showed it, in ascending order.
    private(set) var found: [Int] = []
    /// How many switches the schedule of each seed has after shrinking.
    private(set) var switches: [Int] = []
    private(set) var exactReplays = 0
    private(set) var time = Duration.zero
    private(set) var timeOfTwin = Duration.zero
    /// The requirements that are not met.
    private(set) var complaints: [String] = []

    /// Searches from `seeds` seeds, and runs the twin under `schedules` schedules.
    init(_ bug: SeededBug, seeds: Int, schedules: Int) {
        self.bug = bug
        time = ContinuousClock().measure {
            for seed in 0..<seeds { find(seed: UInt64(seed)) }
            found.sort()
            timeOfTwin = ContinuousClock().measure {
                if let failure = bug.search(isMended: true, schedules: schedules).failure {
                    complaints.append("its twin fails: \(failure)")
                }
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
        kind == other.kind && happened == other.happened && trace == other.trace
            && token == other.token
    }
}

extension [Int] {
    /// The value that `part` percent of these sorted values do not exceed.
    func percentile(_ part: Int) -> Int {
        isEmpty ? 0 : self[Swift.min((count * part + 99) / 100, count) - 1]
    }
}
