extension Search {
    /// Runs the schedule of a token, or one near it.
    func replay(_ token: Token) -> SimulationReport {
        defer { hosts.dismiss() }
        let schedule = token.schedule
        let chooser = ReplayingChooser(schedule)
        let outcome = run(chooser, tracing: true)
        hosts.didTry(outcome.decisions)
        if outcome.finding != nil {
            return report(1, failure: failure(outcome, 1, schedule: schedule))
        }
        if let inversion = explainInversion(outcome, 1) { return report(1, failure: inversion) }
        if let near = failureNear(schedule) { return report(1, failure: near) }
        let unused = schedule.switches.count - chooser.taken
        let departure = token.path.flatMap {
            $0.departure(of: Path(outcome, steps: $0.steps))
        }
        guard unused > 0 || departure != nil else {
            var report = report(1, failure: nil)
            report.isReplay = true
            return report
        }
        return report(1, failure: unfit(schedule, unused, departure, outcome))
    }

    /// Reports a replay that found nothing, but did not follow its token.
    private func unfit(
        _ schedule: Schedule, _ unused: Int, _ departure: ClosedRange<Int>?, _ outcome: Outcome
    ) -> SimulationFailure {
        let count = schedule.switches.count
        var texts: [String] = []
        if unused > 0 {
            texts.append(
                "\(unused) of the token's \(count) switches \(unused == 1 ? "does" : "do") not apply to this program."
            )
        }
        if let departure {
            texts.append("The replay left the path of the token \(place(departure, outcome)).")
        }
        texts.append(
            "The program has changed since the token was made, or it depends on more than the schedule: on the order "
                + "of a set, which differs in each process (SWIFT_DETERMINISTIC_HASHING=1 in the environment makes "
                + "it the same), on a random number, on a real clock. What ran instead found nothing, and proves "
                + "nothing: search again (law 33).")
        return SimulationFailure(
            kind: .unfit, simulation: settings.name, happened: texts.joined(separator: " "),
            schedule: 0, switches: count, token: nil, story: outcome.story)
    }

    /// Where a run left a path, as text.
    private func place(_ departure: ClosedRange<Int>, _ outcome: Outcome) -> String {
        let steps =
            departure.count == 1
            ? "at step \(departure.lowerBound)"
            : "between steps \(departure.lowerBound) and \(departure.upperBound)"
        let events = outcome.events.drop { $0.step < departure.lowerBound - 1 }
            .prefix { $0.step < departure.upperBound }
        guard !events.isEmpty else { return steps + ", where the program has ended" }
        let shown = events.prefix(6).map(\.text).joined(separator: ", ")
        return "\(steps) (there: \(shown)\(events.count > 6 ? ", and more" : ""))"
    }

    /// A failure of a schedule whose switches are a few operations away from those of the token.
    ///
    /// The optimizer removes changes of actor between which nothing happens. So a task of a release
    /// build may have fewer operations than in the debug build that made the token.
    private func failureNear(_ schedule: Schedule) -> SimulationFailure? {
        guard !schedule.switches.isEmpty else { return nil }
        var left = 1_000
        for distance in 1...6 {
            for shifts in Self.shifts(schedule.switches.count, distance) {
                guard left > 0 else { return nil }
                left -= 1
                var near = schedule
                for (index, shift) in shifts.enumerated() {
                    near.switches[index].operation += shift
                }
                let outcome = run(ReplayingChooser(near))
                guard outcome.finding != nil else { continue }
                let traced = run(ReplayingChooser(outcome.schedule), tracing: true)
                guard traced.finding == outcome.finding else { continue }
                return failure(traced, 1, schedule: outcome.schedule)
            }
        }
        return nil
    }

    /// All ways to move `count` switches by `distance` operations in all.
    private static func shifts(_ count: Int, _ distance: Int) -> [[Int]] {
        guard count > 0 else { return distance == 0 ? [[]] : [] }
        var all: [[Int]] = []
        for last in -distance...distance {
            for others in shifts(count - 1, distance - abs(last)) { all.append(others + [last]) }
        }
        return all
    }
}
