import ExecutionContexts
import SeededBugs

/// All bugs, each from many seeds, and each twin under many schedules.
struct Measuring {
    let isQuick: Bool

    /// Of the twins, each.
    private let schedules = 10_000
    /// How late one of the best-known bugs may be found, 99 times in 100.
    private let mostForTheFirst = 30

    /// Whether all is as it should be; prints a line for each bug.
    func run() -> Bool {
        print(
            line(
                "found in schedule, switches left, of the twin passed", "median", "99 %", "most", "least",
                "twin", "s"))
        let known = Set(SeededBug.firstFour.map(\.name))
        // A few at a time: a search that looks out for strangers mostly waits.
        let workers = BlockingContext.blocking.limited(to: 4)
        let clock = ContinuousClock()
        let start = clock.now
        let trials = SeededBug.all.map { bug in
            workers.submit { [self] in
                Trial(bug, seeds: known.contains(bug.name) ? 200 : isQuick ? 20 : 100, schedules: schedules)
            }
        }
        var (failures, exact) = (0, 0)
        var isRight = true
        for trial in trials {
            guard let trial = try? trial.wait() else { return false }
            var complaints = trial.complaints
            if known.contains(trial.bug.name) && trial.found.percentile(99) > mostForTheFirst {
                complaints.append("99 % are to be found in \(mostForTheFirst) schedules")
            }
            tell(trial)
            for complaint in complaints { print("    \(complaint)") }
            isRight = isRight && complaints.isEmpty
            failures += trial.found.count
            exact += trial.exactReplays
        }
        print("\(exact) of \(failures) failures replayed exactly. All in \((clock.now - start).rounded) s.")
        return isRight
    }

    private func tell(_ trial: Trial) {
        print(
            line(
                trial.bug.name, "\(trial.found.percentile(50))", "\(trial.found.percentile(99))",
                "\(trial.switches.max() ?? 0)", "\(trial.bug.depth)",
                trial.complaints.isEmpty ? "\(schedules)" : "?", trial.time.rounded))
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
