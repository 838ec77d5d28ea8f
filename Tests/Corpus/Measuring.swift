import ExecutionContexts
import SeededBugs

/// Searches for each bug from many seeds, and runs each twin under many schedules.
struct Measuring {
    private let bugs: [SeededBug]
    private let isQuick: Bool

    /// How many schedules each twin runs under.
    private let schedules = 10_000
    /// The schedule in which one of the best-known bugs is found at the latest, 99 times in 100.
    private let latestOfTheBestKnown = 30

    init(_ bugs: [SeededBug], isQuick: Bool) { (self.bugs, self.isQuick) = (bugs, isQuick) }

    /// Prints a row for each bug, and returns whether every requirement is met.
    func run() -> Bool {
        print(
            line(
                "found in schedule, switches left, of the twin passed", "median", "99 %", "most",
                "least",
                "twin", "per s", "s"))
        let known = Set(SeededBug.firstFour.map(\.name))
        // A few at a time: a search that watches for foreign threads mostly waits.
        let workers = BlockingContext.blocking.limited(to: 4)
        let clock = ContinuousClock()
        let start = clock.now
        let trials = bugs.map { bug in
            workers.submit { [self] in
                Trial(
                    bug, seeds: known.contains(bug.name) ? 200 : isQuick ? 20 : 100,
                    schedules: schedules)
            }
        }
        var (failures, exact) = (0, 0)
        var isRight = true
        for trial in trials {
            guard let trial = try? trial.wait() else { return false }
            var complaints = trial.complaints
            if known.contains(trial.bug.name) && trial.found.percentile(99) > latestOfTheBestKnown {
                complaints.append("99 % are to be found in \(latestOfTheBestKnown) schedules")
            }
            report(trial)
            for complaint in complaints { print("    \(complaint)") }
            isRight = isRight && complaints.isEmpty
            failures += trial.found.count
            exact += trial.exactReplays
        }
        print(
            "\(exact) of \(failures) failures replayed exactly. All in \((clock.now - start).rounded) s."
        )
        return isRight
    }

    private func report(_ trial: Trial) {
        print(
            line(
                trial.bug.name, "\(trial.found.percentile(50))", "\(trial.found.percentile(99))",
                "\(trial.switches.max() ?? 0)", "\(trial.bug.depth)",
                trial.complaints.isEmpty ? "\(schedules)" : "?",
                "\(Int(Double(schedules) / (trial.timeOfTwin / .seconds(1))))", trial.time.rounded))
    }

    private func line(_ name: String, _ columns: String...) -> String {
        let padded = columns.map { String(repeating: " ", count: max(8 - $0.count, 0)) + $0 }
        return name + String(repeating: " ", count: max(54 - name.count, 0)) + padded.joined()
    }
}

extension Duration {
    /// In seconds, to a tenth.
    var rounded: String {
        let tenths = (self / .milliseconds(100)).rounded()
        return "\(tenths / 10)"
    }
}
