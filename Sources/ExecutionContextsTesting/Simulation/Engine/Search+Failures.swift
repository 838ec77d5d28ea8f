internal import CSimulation

// What a search reports of a failing schedule.
extension Search {
    func nondeterminism(_ first: Outcome, _ second: Outcome, _ number: Int)
        -> SimulationFailure
    {
        // A use by a foreign thread explains the difference, even one about to be reported.
        for outcome in [first, second] where outcome.finding?.kind == .foreign {
            return failure(outcome, number, schedule: nil)
        }
        if let foreign = hosts.awaitForeignUse() {
            var outcome = second
            outcome.finding = Finding(kind: .foreign, message: foreign)
            return failure(outcome, number, schedule: nil)
        }
        func end(_ outcome: Outcome) -> String {
            outcome.finding.map { "with \($0.kind.rawValue)" } ?? "well"
        }
        let (one, other) = (end(first), end(second))
        let ends =
            if one != other {
                "the first ended \(one), the second \(other)"
            } else if first.decisions == second.decisions {
                "both ended \(one), after the same steps"
            } else {
                "both ended \(one), after different steps"
            }
        return SimulationFailure(
            kind: .nondeterminism, simulation: settings.name,
            happened:
                "Two runs of one schedule differ: \(ends). \(Difference(first, second).message) "
                + (replacedHooks
                    ?? "Some state outlives a schedule, as a static variable does, or depends on more than the schedule: a real "
                    + "clock, a random number, the order of a set. Create it in the body, or make it the same in each run "
                    + "(law 33)." + noteOnUncontrolled)
                + (first.finding.flatMap { finding in
                    first.decisions == second.decisions
                        ? nil : " The finding: \(finding.message)"
                } ?? ""),
            schedule: number, switches: first.schedule.switches.count, token: nil, story: .none)
    }

    /// Says that the program has replaced the hooks, if it has.
    var replacedHooks: String? {
        guard ecs_put_back_hooks() else { return nil }
        return
            "The program replaces the runtime's hook for tasks, as 'withMainSerialExecutor' does, so the search "
            + "does not control them. Leave that out: a search runs one task at a time anyway (law 33)."
    }

    /// What the program has used and the search does not control, as a sentence behind others.
    var noteOnUncontrolled: String { hosts.met.isEmpty ? "" : " \(hosts.met.text)." }

    /// Shrinks a failing schedule, and describes its failure.
    func explain(_ outcome: Outcome, _ number: Int) -> SimulationFailure? {
        guard let kind = outcome.finding?.kind else { return nil }
        // A use from outside is not repeatable, and misuse has nothing to shrink.
        if kind == .misuse || kind == .foreign { return failure(outcome, number, schedule: nil) }
        // A foreign thread may be about to wake the thread, so wait a moment before reporting a
        // lost wake-up.
        if kind == .lostWakeUp || outcome.waitsForCounter, let foreign = hosts.awaitForeignUse() {
            var outcome = outcome
            outcome.finding = Finding(kind: .foreign, message: foreign)
            return failure(outcome, number, schedule: nil)
        }
        let again = run(ReplayingChooser(outcome.schedule), tracing: true)
        guard again.finding == outcome.finding && again.decisions == outcome.decisions else {
            return nondeterminism(outcome, again, number)
        }
        var shrinker = Shrinker(outcome, { self.run($0) }, keeping: { $0.finding?.kind == kind })
        let shrunk = shrinker.shrink()
        let traced = run(ReplayingChooser(shrunk), tracing: true)
        guard traced.finding?.kind == kind else { return nondeterminism(outcome, traced, number) }
        return failure(traced, number, schedule: shrunk)
    }

    func explainInversion(_ outcome: Outcome, _ number: Int) -> SimulationFailure? {
        guard outcome.inversion != nil, !settings.ignoring.contains(.lockOrder) else { return nil }
        var shrinker = Shrinker(outcome, { self.run($0) }, keeping: { $0.inversion != nil })
        let shrunk = shrinker.shrink()
        var traced = run(ReplayingChooser(shrunk), tracing: true)
        traced.finding = traced.inversion ?? outcome.inversion
        return failure(traced, number, schedule: shrunk)
    }

    func failure(_ outcome: Outcome, _ number: Int, schedule: Schedule?)
        -> SimulationFailure
    {
        SimulationFailure(
            kind: outcome.finding!.kind, simulation: settings.name,
            happened: outcome.finding!.message,
            schedule: number, switches: schedule?.switches.count ?? outcome.schedule.switches.count,
            token: settings.isSearch ? schedule.map { token($0, outcome) } : nil,
            story: outcome.story)
    }

    /// The token that replays a schedule whose run was traced.
    private func token(_ schedule: Schedule, _ outcome: Outcome) -> String {
        let path = Path(outcome, steps: outcome.stepsToFailure)
        return Token(schedule: schedule, path: path).text(for: settings.identity)
    }
}
