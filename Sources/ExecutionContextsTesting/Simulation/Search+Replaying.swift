extension Search {
    /// Runs the schedule of a token, or one near it.
    func replay(_ schedule: Schedule) -> SimulationReport {
        defer { hosts.dismiss() }
        let chooser = ReplayingChooser(schedule)
        let outcome = run(chooser, tracing: true)
        if outcome.finding != nil {
            return report(1, failure: failure(outcome, 1, schedule: schedule))
        }
        if let inversion = explainInversion(outcome, 1) { return report(1, failure: inversion) }
        if let near = failureNear(schedule) { return report(1, failure: near) }
        let unused = schedule.switches.count - chooser.taken
        return report(1, failure: unused == 0 ? nil : unfit(unused, of: schedule))
    }

    /// Reports a replay that found nothing, but did not follow its token.
    private func unfit(_ unused: Int, of schedule: Schedule) -> SimulationFailure {
        let count = schedule.switches.count
        return SimulationFailure(
            kind: .unfit, simulation: settings.name,
            happened:
                "\(unused) of the token's \(count) switches \(unused == 1 ? "does" : "do") not apply to this program, which has "
                + "changed since the token was made. What ran instead found nothing, and shows nothing: search again (law 33).",
            schedule: 0, switches: count, token: nil, trace: [])
    }

    /// A failure of a schedule whose switches are a few operations away from those of the token.
    ///
    /// The optimizer leaves out changes of actor between which nothing happens. So a task of a
    /// release build may have fewer operations than in the debug build that made the token.
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
