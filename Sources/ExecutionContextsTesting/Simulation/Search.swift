internal import ExecutionContexts
internal import Foundation
internal import Synchronization

/// One search: it runs the program under one schedule after another, until one fails or there are
/// enough.
final class Search: Sendable {
    let settings: Settings
    let body: @Sendable (SimulatedWorld) throws -> Void
    let crew = Crew()
    private let result = Locked<SimulationReport?>(nil)
    private let isOver = Signal()

    init(_ settings: Settings, _ body: @escaping @Sendable (SimulatedWorld) throws -> Void) {
        self.settings = settings
        self.body = body
    }

    /// What came of one schedule.
    struct Outcome {
        var finding: Finding?
        var inversion: Finding?
        var schedule: Schedule
        /// The same for two runs in which the same happened.
        var trail: Trail
        /// What the threads are called, and what they did at which step; the latter only where it
        /// is told.
        var names: [String]
        var deeds: [(step: Int, text: String)]
        var story: [String]
        /// The points, for the exhaustive way.
        var operations: [Int]
    }

    // MARK: From outside

    /// Searches, or replays one schedule, on threads of its own; blocks the caller until there is a
    /// result.
    func perform(replaying schedule: Schedule?) -> SimulationReport {
        startThread { [self] in
            crew.pin()
            let report = schedule.map(replay) ?? explore()
            result.withLock { $0 = report }
            isOver.happen()
        }
        var pulse = crew.pulse
        // Looked at twice in its patience, so that work that has just begun is not taken for
        // blocked.
        while !isOver.wait(count: 1, atMost: settings.patience) {
            let now = crew.pulse
            if now == pulse { return blocked() }
            pulse = now
        }
        return result.withLock { $0! }
    }

    /// Nobody has made a step for long: somebody sleeps where the simulation does not see it.
    private func blocked() -> SimulationReport {
        let lane = crew.name(of: crew.lastLane)
        let failure = SimulationFailure(
            kind: .blocked, simulation: settings.name,
            happened:
                "'\(lane)' has the turn and has done nothing for \(settings.patience). It blocks its thread in something "
                + "that the simulation does not control - a semaphore, a lock of the system, input, a real clock - or "
                + "computes for long: wait by what the simulation gives, or raise 'patience' (law 33).",
            schedule: 0, switches: 0, token: nil, story: [])
        return SimulationReport(schedules: 0, isComplete: false, failure: failure)
    }

    // MARK: Conducting

    /// Runs the program under one schedule.
    func play(_ chooser: Chooser, telling: Bool = false) -> Outcome {
        Unseen.begin()
        let chronicle = telling ? Chronicle() : nil
        let stage = Stage(settings, chooser, crew, chronicle: chronicle)
        chooser.begin()
        let world = SimulatedWorld(stage)
        let first = stage.add("the body") { [body] in
            do {
                try body(world)
            } catch {
                Unseen.begin()
                stage.fail(.threw, "The simulation's body threw \(error).")
                Unseen.end()
            }
        }
        first?.thread.baton.pass()
        crew.conductor.wait()
        let operations = stage.lanes.map(\.operations)
        chooser.end(operations: operations)
        var finding = stage.failure
        if finding?.kind == .lostWakeUp,
            let lane = stage.lanes.first(where: { !$0.isDone && $0.thread.wasWokenFromOutside })
        {
            crew.report(
                stranger:
                    "'\(lane.name)' was woken by a thread that the simulation does not control (law 33). "
                    + "Let what it waits for be done by threads and contexts of the simulation.")
        }
        if let stranger = crew.takeStranger() { finding = Finding(kind: .foreign, sentence: stranger) }
        let outcome = Outcome(
            finding: finding, inversion: stage.inversion, schedule: Schedule(switches: stage.switches),
            trail: stage.trail, names: stage.lanes.map(\.name), deeds: chronicle?.all ?? [],
            story: chronicle?.story ?? [], operations: operations)
        let (over, lost) = (stage.lanes.filter(\.isDone), stage.lanes.filter { !$0.isDone })
        let leftovers = stage.close()
        crew.replace(lost)
        Unseen.end()
        for lane in over { lane.edge.follow() }
        // Letting go of work may tell others, as a view does whose turn is lost.
        for job in leftovers { job.edge.follow() }
        withExtendedLifetime(leftovers) {}
        return outcome
    }

    private func explore() -> SimulationReport {
        defer { crew.dismiss() }
        // Once more what is simplest: the second run must be like the first.
        let (first, second) = (play(Chooser(), telling: true), play(Chooser(), telling: true))
        if first.finding?.kind == nil && (first.trail != second.trail || second.finding != nil) {
            return report(1, failure: unlike(first, second, 1))
        }
        if first.finding != nil { return report(1, failure: tell(first, 1)) }
        if case .exhaustive(let most) = settings.strategy.way { return exhaust(most) }
        let chooser = settings.strategy.chooser(seed: settings.seed)
        var inversion: (Outcome, Int)? = first.inversion.map { _ in (first, 1) }
        for number in 2..<max(settings.schedules + 1, 2) {
            let outcome = play(chooser)
            if outcome.finding != nil { return report(number, failure: tell(outcome, number)) }
            if inversion == nil, outcome.inversion != nil { inversion = (outcome, number) }
        }
        let failure = inversion.flatMap { tellInversion($0.0, $0.1) }
        return report(settings.schedules, failure: failure)
    }

    private func replay(_ schedule: Schedule) -> SimulationReport {
        defer { crew.dismiss() }
        let chooser = ReplayingChooser(schedule)
        let outcome = play(chooser, telling: true)
        if outcome.finding != nil {
            return report(1, failure: failure(outcome, 1, schedule: schedule))
        }
        if let inversion = tellInversion(outcome, 1) { return report(1, failure: inversion) }
        let lost = schedule.switches.count - chooser.taken
        return report(1, failure: lost == 0 ? nil : unfit(lost, of: schedule))
    }

    /// Nothing was found, but not by the schedule that was asked for: that is no reason to be
    /// content.
    private func unfit(_ lost: Int, of schedule: Schedule) -> SimulationFailure {
        let count = schedule.switches.count
        return SimulationFailure(
            kind: .unfit, simulation: settings.name,
            happened:
                "\(lost) of the token's \(count) switches \(lost == 1 ? "has" : "have") no place in this program, which has "
                + "changed since the token was made. What ran instead found nothing, and shows nothing: search again (law 33).",
            schedule: 0, switches: count, token: nil, story: [])
    }

    private func report(_ schedules: Int, isComplete: Bool = false, failure: SimulationFailure?)
        -> SimulationReport
    {
        SimulationReport(schedules: schedules, isComplete: isComplete, failure: failure)
    }

    /// All schedules of few switches, those with fewer first: each is found by one more switch in a
    /// known one.
    private func exhaust(_ most: Int) -> SimulationReport {
        var waiting = [Schedule()]
        var next = 0
        var inversion: (Outcome, Int)?
        while next < waiting.count && next < settings.schedules {
            let schedule = waiting[next]
            next += 1
            let chooser = ExhaustingChooser(schedule)
            let outcome = play(chooser)
            if outcome.finding != nil { return report(next, failure: tell(outcome, next)) }
            if inversion == nil, outcome.inversion != nil { inversion = (outcome, next) }
            // What is beyond the number that will be run need not be kept.
            if schedule.switches.count < most && waiting.count <= settings.schedules {
                waiting += chooser.alternatives.map { Schedule(switches: schedule.switches + [$0]) }
            }
        }
        let failure = inversion.flatMap { tellInversion($0.0, $0.1) }
        return report(next, isComplete: next == waiting.count, failure: failure)
    }

    // MARK: Telling

    private func unlike(_ first: Outcome, _ second: Outcome, _ number: Int) -> SimulationFailure {
        // A stranger that came in time once says why the two differ.
        if second.finding?.kind == .foreign { return failure(second, number, schedule: nil) }
        func end(_ outcome: Outcome) -> String {
            outcome.finding.map { "with \($0.kind.rawValue)" } ?? "well"
        }
        let (one, other) = (end(first), end(second))
        let ends =
            one == other
            ? "both ended \(one), by different steps" : "the first ended \(one), the second \(other)"
        return SimulationFailure(
            kind: .nondeterminism, simulation: settings.name,
            happened:
                "One schedule went two ways when it was run twice: \(ends). \(Difference(first, second).sentence) "
                + "Something outlives a schedule, as a static variable does, or depends on more than the schedule: a real "
                + "clock, a random number, the order of a set. Make it anew in the body, or make it the same each time "
                + "(law 33)."
                + (first.finding.map { " What was found: \($0.sentence)" } ?? ""),
            schedule: number, switches: first.schedule.switches.count, token: nil, story: [])
    }

    /// Shrinks what was found, and tells it.
    private func tell(_ outcome: Outcome, _ number: Int) -> SimulationFailure? {
        guard let kind = outcome.finding?.kind else { return nil }
        // What comes from outside does not repeat; what cannot go on has nothing to shrink.
        if kind == .misuse || kind == .foreign { return failure(outcome, number, schedule: nil) }
        // Before it is said that nobody will come, a moment for those who come from outside.
        if kind == .lostWakeUp, let stranger = crew.awaitStranger() {
            var outcome = outcome
            outcome.finding = Finding(kind: .foreign, sentence: stranger)
            return failure(outcome, number, schedule: nil)
        }
        let again = play(ReplayingChooser(outcome.schedule), telling: true)
        guard again.finding == outcome.finding && again.trail == outcome.trail else {
            return unlike(outcome, again, number)
        }
        var shrinker = Shrinker(outcome, { self.play($0) }, keeping: { $0.finding?.kind == kind })
        let shrunk = shrinker.shrink()
        let told = play(ReplayingChooser(shrunk), telling: true)
        guard told.finding?.kind == kind else { return unlike(outcome, told, number) }
        return failure(told, number, schedule: shrunk)
    }

    private func tellInversion(_ outcome: Outcome, _ number: Int) -> SimulationFailure? {
        guard outcome.inversion != nil, !settings.ignoring.contains(.lockOrder) else { return nil }
        var shrinker = Shrinker(outcome, { self.play($0) }, keeping: { $0.inversion != nil })
        let shrunk = shrinker.shrink()
        var told = play(ReplayingChooser(shrunk), telling: true)
        told.finding = told.inversion ?? outcome.inversion
        return failure(told, number, schedule: shrunk)
    }

    private func failure(_ outcome: Outcome, _ number: Int, schedule: Schedule?) -> SimulationFailure {
        SimulationFailure(
            kind: outcome.finding!.kind, simulation: settings.name, happened: outcome.finding!.sentence,
            schedule: number, switches: schedule?.switches.count ?? outcome.schedule.switches.count,
            token: schedule?.token(for: settings.identity), story: outcome.story)
    }
}
