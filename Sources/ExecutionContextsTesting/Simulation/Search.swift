internal import ExecutionContexts
internal import Foundation
internal import Synchronization

/// One search: it runs the program under one schedule after another, until one fails or the limit
/// is reached.
final class Search: Sendable {
    let settings: Settings
    let body: @Sendable (SimulatedWorld) throws -> Void
    let hosts = HostThreads()
    private let result = Locked<SimulationReport?>(nil)
    private let isOver = Signal()

    init(_ settings: Settings, _ body: @escaping @Sendable (SimulatedWorld) throws -> Void) {
        self.settings = settings
        self.body = body
    }

    /// The result of one schedule.
    struct Outcome {
        var finding: Finding?
        var inversion: Finding?
        var schedule: Schedule
        /// Equal for two runs in which the same happened.
        var decisions: DecisionLog
        /// The names of the threads, and the events of each step; events only if the run is traced.
        var names: [String]
        var events: [(step: Int, text: String)]
        var story: [String]
        /// The operations of each thread.
        var operations: [Int]
    }

    // MARK: The caller

    /// Searches, or replays one schedule, on threads of its own; blocks the caller until there is a
    /// result.
    func perform(replaying schedule: Schedule?) -> SimulationReport {
        startThread { [self] in
            hosts.pin()
            let report = schedule.map(replay) ?? explore()
            result.withLock { $0 = report }
            isOver.happen()
        }
        var stepCount = hosts.stepCount
        // Compares the counts of two checks, so that a job that has just begun does not count as
        // blocked.
        while !isOver.wait(count: 1, atMost: settings.patience) {
            let now = hosts.stepCount
            if now == stepCount { return blocked() }
            stepCount = now
        }
        return result.withLock { $0! }
    }

    /// Reports that no thread has made a step for long: one blocks where the simulation does not
    /// see it.
    private func blocked() -> SimulationReport {
        let thread = hosts.name(of: hosts.lastThread)
        let failure = SimulationFailure(
            kind: .blocked, simulation: settings.name,
            happened:
                "'\(thread)' runs and has made no step for \(settings.patience). It blocks its thread in something "
                + "that the simulation does not control - a semaphore, a lock of the system, input, a real clock - or "
                + "computes for long: wait by what the simulation gives, or raise 'patience' (law 33).",
            schedule: 0, switches: 0, token: nil, trace: [])
        return SimulationReport(schedules: 0, isComplete: false, failure: failure)
    }

    // MARK: Running schedules

    /// Runs the program under one schedule.
    func run(_ chooser: Chooser, tracing: Bool = false) -> Outcome {
        HiddenFromSanitizer.begin()
        let trace = tracing ? SimulationTrace() : nil
        let scheduler = SimulationScheduler(settings, chooser, hosts, trace: trace)
        chooser.begin()
        let world = SimulatedWorld(scheduler)
        let first = scheduler.add("the body") { [body] in
            do {
                try body(world)
            } catch {
                HiddenFromSanitizer.begin()
                scheduler.fail(.threw, "The simulation's body threw \(error).")
                HiddenFromSanitizer.end()
            }
        }
        first?.host.schedulerToken.pass()
        hosts.searchToken.wait()
        let operations = scheduler.threads.map(\.operations)
        chooser.end(operations: operations)
        var finding = scheduler.failure
        if finding?.kind == .lostWakeUp,
            let thread = scheduler.threads.first(where: {
                !$0.isDone && $0.host.wasWokenFromOutside
            })
        {
            hosts.report(
                foreign:
                    "'\(thread.name)' was woken by a thread that the simulation does not control (law 33). "
                    + "Let what it waits for be done by threads and contexts of the simulation.")
        }
        if let foreign = hosts.takeForeignUse() {
            finding = Finding(kind: .foreign, message: foreign)
        }
        let outcome = Outcome(
            finding: finding, inversion: scheduler.inversion,
            schedule: Schedule(switches: scheduler.switches),
            decisions: scheduler.decisions, names: scheduler.threads.map(\.name),
            events: trace?.all ?? [],
            story: trace?.story ?? [], operations: operations)
        let (ended, stuck) = (
            scheduler.threads.filter(\.isDone), scheduler.threads.filter { !$0.isDone }
        )
        let leftovers = scheduler.close()
        hosts.replace(stuck)
        HiddenFromSanitizer.end()
        for thread in ended { thread.edge.acquire() }
        // The deinit of a dropped job may notify others, as the guard of a view's drain does.
        for job in leftovers { job.edge.acquire() }
        withExtendedLifetime(leftovers) {}
        return outcome
    }

    private func explore() -> SimulationReport {
        defer { hosts.dismiss() }
        // Runs the default schedule twice: the second run must be like the first.
        let (first, second) = (run(Chooser(), tracing: true), run(Chooser(), tracing: true))
        if first.finding?.kind == nil
            && (first.decisions != second.decisions || second.finding != nil)
        {
            return report(1, failure: nondeterminism(first, second, 1))
        }
        if first.finding != nil { return report(1, failure: explain(first, 1)) }
        if case .exhaustive(let most) = settings.strategy.kind { return exhaust(most) }
        let chooser = settings.strategy.chooser(seed: settings.seed)
        var inversion: (Outcome, Int)? = first.inversion.map { _ in (first, 1) }
        for number in 2..<max(settings.schedules + 1, 2) {
            let outcome = run(chooser)
            if outcome.finding != nil { return report(number, failure: explain(outcome, number)) }
            if inversion == nil, outcome.inversion != nil { inversion = (outcome, number) }
        }
        let failure = inversion.flatMap { explainInversion($0.0, $0.1) }
        return report(settings.schedules, failure: failure)
    }

    private func replay(_ schedule: Schedule) -> SimulationReport {
        defer { hosts.dismiss() }
        let chooser = ReplayingChooser(schedule)
        let outcome = run(chooser, tracing: true)
        if outcome.finding != nil {
            return report(1, failure: failure(outcome, 1, schedule: schedule))
        }
        if let inversion = explainInversion(outcome, 1) { return report(1, failure: inversion) }
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

    private func report(_ schedules: Int, isComplete: Bool = false, failure: SimulationFailure?)
        -> SimulationReport
    {
        SimulationReport(schedules: schedules, isComplete: isComplete, failure: failure)
    }

    /// Runs all schedules of few switches, those with fewer first: each adds one switch to a known
    /// one.
    private func exhaust(_ most: Int) -> SimulationReport {
        var waiting = [Schedule()]
        var next = 0
        var inversion: (Outcome, Int)?
        while next < waiting.count && next < settings.schedules {
            let schedule = waiting[next]
            next += 1
            let chooser = ExhaustingChooser(schedule)
            let outcome = run(chooser)
            if outcome.finding != nil { return report(next, failure: explain(outcome, next)) }
            if inversion == nil, outcome.inversion != nil { inversion = (outcome, next) }
            // Schedules beyond the limit never run, so they are not kept.
            if schedule.switches.count < most && waiting.count <= settings.schedules {
                waiting += chooser.alternatives.map { Schedule(switches: schedule.switches + [$0]) }
            }
        }
        let failure = inversion.flatMap { explainInversion($0.0, $0.1) }
        return report(next, isComplete: next == waiting.count, failure: failure)
    }

    // MARK: Failures

    private func nondeterminism(_ first: Outcome, _ second: Outcome, _ number: Int)
        -> SimulationFailure
    {
        // The use by a foreign thread explains the difference.
        if second.finding?.kind == .foreign { return failure(second, number, schedule: nil) }
        func end(_ outcome: Outcome) -> String {
            outcome.finding.map { "with \($0.kind.rawValue)" } ?? "well"
        }
        let (one, other) = (end(first), end(second))
        let ends =
            one == other
            ? "both ended \(one), by different steps"
            : "the first ended \(one), the second \(other)"
        return SimulationFailure(
            kind: .nondeterminism, simulation: settings.name,
            happened:
                "One schedule went two ways when it was run twice: \(ends). \(Difference(first, second).message) "
                + "Something outlives a schedule, as a static variable does, or depends on more than the schedule: a real "
                + "clock, a random number, the order of a set. Make it anew in the body, or make it the same each time "
                + "(law 33)."
                + (first.finding.map { " What was found: \($0.message)" } ?? ""),
            schedule: number, switches: first.schedule.switches.count, token: nil, trace: [])
    }

    /// Shrinks a failing schedule, and describes its failure.
    private func explain(_ outcome: Outcome, _ number: Int) -> SimulationFailure? {
        guard let kind = outcome.finding?.kind else { return nil }
        // A use from outside does not repeat, and misuse has nothing to shrink.
        if kind == .misuse || kind == .foreign { return failure(outcome, number, schedule: nil) }
        // A foreign thread may still be about to wake the thread, so wait a moment before reporting
        // a lost wake-up.
        if kind == .lostWakeUp, let foreign = hosts.awaitForeignUse() {
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

    private func explainInversion(_ outcome: Outcome, _ number: Int) -> SimulationFailure? {
        guard outcome.inversion != nil, !settings.ignoring.contains(.lockOrder) else { return nil }
        var shrinker = Shrinker(outcome, { self.run($0) }, keeping: { $0.inversion != nil })
        let shrunk = shrinker.shrink()
        var traced = run(ReplayingChooser(shrunk), tracing: true)
        traced.finding = traced.inversion ?? outcome.inversion
        return failure(traced, number, schedule: shrunk)
    }

    private func failure(_ outcome: Outcome, _ number: Int, schedule: Schedule?)
        -> SimulationFailure
    {
        SimulationFailure(
            kind: outcome.finding!.kind, simulation: settings.name,
            happened: outcome.finding!.message,
            schedule: number, switches: schedule?.switches.count ?? outcome.schedule.switches.count,
            token: schedule?.token(for: settings.identity), trace: outcome.story)
    }
}
