import ExecutionContexts
import ExecutionContextsTesting
import SeededBugs

/// Compares the strategies: in which schedule each finds a bug.
struct Strategies {
    private static let all: [(name: String, strategy: SimulationStrategy)] = [
        ("portfolio", .portfolio), ("random", .random), ("walk", .walk), ("sampling", .sampling),
        ("depth 2", .priorities(depth: 2)), ("depth 3", .priorities(depth: 3)),
        ("depth 5", .priorities(depth: 5)),
    ]
    private let bugs: [SeededBug]
    private let seeds = 50
    private let schedules = 5_000

    init(_ bugs: [SeededBug]) { self.bugs = bugs }

    /// Prints a row for each bug: the median and the 99th percentile of each strategy.
    func print() {
        let names = Self.all.map { Self.cell($0.name) }.joined()
        Swift.print(Self.title("median / 99 %, of \(seeds) seeds") + names)
        let workers = BlockingContext.blocking.limited(to: 4)
        let rows = bugs.map { bug in
            workers.submit { (bug.name, Self.all.map { found(bug, by: $0.strategy) }) }
        }
        var worst = Self.all.map { _ in 0 }
        for row in rows {
            guard let (name, results) = try? row.wait() else { continue }
            let cells = results.map { found in
                Self.cell("\(text(found.percentile(50)))/\(text(found.percentile(99)))")
            }
            Swift.print(Self.title(name) + cells.joined())
            for index in worst.indices {
                worst[index] = max(worst[index], results[index].percentile(99))
            }
        }
        let cells = worst.map { Self.cell(text($0)) }
        Swift.print(Self.title("the slowest, 99 %") + cells.joined())
    }

    /// The schedules in which the seeds find the bug, in ascending order; beyond the limit for a
    /// seed that does not.
    private func found(_ bug: SeededBug, by strategy: SimulationStrategy) -> [Int] {
        (0..<seeds).map { seed in
            bug.search(schedules: schedules, seed: UInt64(seed), strategy: strategy)
                .failure?.schedule ?? schedules + 1
        }.sorted()
    }

    private func text(_ schedule: Int) -> String {
        schedule > schedules ? "> \(schedules)" : "\(schedule)"
    }

    private static func title(_ text: String) -> String {
        text + String(repeating: " ", count: max(46 - text.count, 0))
    }

    private static func cell(_ text: String) -> String {
        String(repeating: " ", count: max(14 - text.count, 1)) + text
    }
}
