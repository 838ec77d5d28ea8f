internal import CSimulation
internal import ExecutionContexts
internal import Foundation
internal import Synchronization

/// One search: it runs the program under one schedule after another, until one fails or the limit
/// is reached.
final class Search: Sendable {
    let settings: Settings
    let body: @Sendable (SimulatedWorld) throws -> Void
    let hosts: HostThreads
    private let result = Locked<SimulationReport?>(nil)
    /// Its beginning and the end of its time, by the system's monotonic clock.
    private let start = MonotonicClock.nanoseconds
    private let deadline: Int64

    init(_ settings: Settings, _ body: @escaping @Sendable (SimulatedWorld) throws -> Void) {
        self.settings = settings
        self.body = body
        hosts = HostThreads(isOver: settings.isOver)
        deadline =
            settings.limit.map { [start] limit in
                ContextInstant(nanoseconds: start).advanced(by: limit).nanoseconds
            } ?? .max
    }

    /// Whether the search may run another schedule.
    var mayGoOn: Bool {
        !settings.cancelling.isRequested && !HostThread.hasAbandonedMost
            && (deadline == .max || MonotonicClock.nanoseconds < deadline)
    }

    /// Whether the caller has its report already, because a thread was blocked.
    ///
    /// The blocked thread may continue later, and its schedule may end. No other schedule begins:
    /// it could block again while holding the right to run tasks, for which other searches wait.
    /// Relaxed: a schedule that begins at this moment has made a step, so no thread was blocked.
    var isGivenUp: Bool { givenUp.load(ordering: .relaxed) }
    private let givenUp = Atomic(false)

    /// The result of one schedule.
    struct Outcome {
        var finding: Finding?
        var inversion: Finding?
        var schedule: Schedule
        /// Equal for two runs in which the same happened.
        var decisions: DecisionLog
        /// The names of the threads, if the run is traced.
        var names: [String]
        /// What the run did, if it is traced: only failures that are explained need it.
        var trace: SimulationTrace?
        /// How many decisions came before the failure.
        var stepsToFailure: Int
        /// The operations of each thread.
        var operations: [Int]
        /// Whether the threads ran round-robin at the end, without a choice.
        var isCut = false
        /// Whether a thread waits for a condition of the system at the end.
        var waitsForCondition = false
        /// Whether one waits for a semaphore or a group.
        var waitsForCounter = false

        /// The outcome of a search that was given up.
        static var none: Outcome {
            Outcome(
                schedule: Schedule(), decisions: DecisionLog(), names: [], stepsToFailure: 0,
                operations: [])
        }

        /// The events of each step, and a number for each.
        var events: [(step: Int, text: String)] { trace?.texts ?? [] }
        var eventHashes: [(step: Int, hash: Int)] { trace?.eventHashes ?? [] }
        var story: Story { trace?.story ?? .none }
    }

    // MARK: The caller

    /// Searches, or replays one schedule, on separate threads; blocks the caller until there is a
    /// result.
    func perform(replaying token: Token?) -> SimulationReport {
        RuntimeHooks.install
        _ = ecs_put_back_hooks()
        hosts.register()
        defer { hosts.unregister() }
        SearchBudget.shared.begin(at: start)
        defer { SearchBudget.shared.end(at: MonotonicClock.nanoseconds) }
        startThread { [self] in
            hosts.begin()
            let report = token.map(replay) ?? explore()
            printUncontrolled(report)
            result.withLock { $0 = report }
            settings.isOver.happen()
        }
        let clock = ContinuousClock()
        var stillness = Stillness(patience: settings.patience, stepCount: hosts.stepCount)
        var last = clock.now
        while !settings.isOver.wait(count: 1, atMost: stillness.interval) {
            let now = clock.now
            if stillness.isOver(stepCount: hosts.stepCount, waited: now - last) { return blocked() }
            last = now
        }
        return result.withLock { $0! }
    }

    /// Prints what the program has used that the search does not control, where nothing was found.
    private func printUncontrolled(_ report: SimulationReport) {
        guard settings.isSearch, settings.printsUncontrolled, report.failure == nil,
            !report.met.isEmpty
        else { return }
        let text = "Simulation '\(settings.name)' found nothing. \(report.met.text) (law 33).\n"
        try? FileHandle.standardError.write(contentsOf: Data(text.utf8))
    }

    /// Reports that no thread has made a step for long: one blocks where the simulation cannot see
    /// it.
    private func blocked() -> SimulationReport {
        settings.cancelling.request()
        givenUp.store(true, ordering: .relaxed)
        hosts.taskLease.lose()
        let thread = hosts.name(of: hosts.lastThread)
        let failure = SimulationFailure(
            kind: .blocked, simulation: settings.name,
            happened:
                "'\(thread)' has reached no scheduling point for \(settings.patience). It waits for something "
                + "that the simulation cannot see (a semaphore, a system lock, input, a real clock), spins until a "
                + "thread goes on that is paused, or is computing. Wait with primitives of the simulation, or raise 'patience' (law 33)."
                + hosts.noteOnDispatch,
            schedule: 0, switches: 0, token: nil, story: .none)
        return report(0, failure: failure)
    }

    // MARK: Running schedules

    /// Runs the program under one schedule.
    func run(_ chooser: Chooser, tracing: Bool = false) -> Outcome {
        var result: Outcome?
        runEach(chooser, tracing: tracing) { outcome in
            result = outcome
            return false
        }
        return result ?? .none
    }

    /// Runs the program under one schedule after another, as long as `goesOn` returns true.
    func runEach(
        _ chooser: Chooser, tracing: Bool = false, while goesOn: @escaping (Outcome) -> Bool
    ) {
        HiddenFromSanitizer.begin()
        let series = Series(self, chooser, tracing: tracing, goesOn)
        hosts.series = series
        series.run()
        hosts.series = nil
        hosts.taskLease.giveUp()
        HiddenFromSanitizer.end()
    }

    private func explore() -> SimulationReport {
        defer { hosts.dismiss() }
        // Runs the default schedule twice: the second run must repeat the first.
        let counter = CountingChooser()
        let first = run(counter, tracing: true)
        hosts.choices = counter.choices + counter.chances
        hosts.pendingTimes = counter.pendingTimes
        hosts.didTry(first.decisions)
        // Objects that the thread retains may keep another run from ending.
        if first.waitsForCondition, first.finding?.kind == .lostWakeUp {
            return report(1, failure: failure(first, 1, schedule: first.schedule))
        }
        let second = run(Chooser(), tracing: true)
        if first.finding?.kind == nil
            && (first.decisions != second.decisions || second.finding != nil)
        {
            return report(1, failure: nondeterminism(first, second, 1))
        }
        if first.finding != nil { return report(1, failure: explain(first, 1)) }
        hosts.chances = counter.chances
        // The other schedules would be the same.
        if hosts.choices == 0, vacuity != nil, first.inversion == nil { return report(1) }
        if case .exhaustive(let most) = settings.strategy.kind {
            return exhaust(most, after: first)
        }
        if settings.strategy.kind == .orders { return tryOrders(first) }
        let chooser = settings.strategy.chooser(seed: settings.seed, settings.time)
        var inversion: (Outcome, Int)? = first.inversion.map { _ in (first, 1) }
        var failed: Outcome?
        var number = 1
        if settings.schedules > 1 {
            runEach(chooser) { outcome in
                number += 1
                self.hosts.didTry(outcome.decisions)
                if outcome.finding != nil { failed = outcome }
                if inversion == nil, outcome.inversion != nil { inversion = (outcome, number) }
                return failed == nil && number < self.settings.schedules
                    && self.mayGoOn
            }
        }
        (hosts.reversals, hosts.pairs) = (chooser.reversals, chooser.pairs)
        if failed?.finding?.kind != .foreign, failed != nil || mayGoOn,
            let changed = changeSince(first)
        {
            return report(number, failure: changed)
        }
        if let failed { return report(number, failure: explain(failed, number)) }
        let failure = inversion.flatMap { explainInversion($0.0, $0.1) }
        return report(number, failure: failure)
    }

    /// Repeats the usual schedule: state that outlives schedules may have grown, so that one failed
    /// or found nothing.
    private func changeSince(_ first: Outcome) -> SimulationFailure? {
        let last = run(Chooser(), tracing: true)
        guard last.finding != nil || last.decisions != first.decisions else { return nil }
        return nondeterminism(first, last, 1)
    }

    func report(
        _ schedules: Int, orders: Int? = nil, isComplete: Bool = false,
        failure: SimulationFailure? = nil
    )
        -> SimulationReport
    {
        let failure = failure ?? tooManyAbandoned ?? vacuity
        return SimulationReport(
            simulation: settings.name, schedules: schedules,
            distinctSchedules: min(hosts.distinctCount, schedules),
            choices: hosts.choices, pendingTimes: hosts.pendingTimes, orders: orders,
            reversals: hosts.reversals?.found, triedReversals: hosts.reversals?.tried,
            pairs: hosts.pairs?.all, isComplete: isComplete, missedChanges: hosts.missedChangeCount,
            failure: failure, met: hosts.met, time: settings.time)
    }

    /// Why its success means nothing, if it does not; nil for a replay.
    private var vacuity: SimulationFailure? {
        guard settings.isSearch, hosts.chances == 0, !settings.ignoring.contains(.vacuous) else {
            return nil
        }
        let reason: String
        if hosts.choices == 0 {
            reason =
                "No two of its threads or tasks could ever run at the same time, so there is one order. "
                + "Test the code from several tasks"
        } else if !hosts.isInterrupted, hosts.order?.hasShared != true, ecs_sees_all(), mayGoOn {
            reason =
                "No thread or task could be interrupted between its beginning and its end, so only orders "
                + "of whole ones were tried. The search does not see uses of variables and atomics, and of "
                + "a Mutex that is free: make them Tracked, or take a lock that it sees"
        } else {
            return nil
        }
        return SimulationFailure(
            kind: .vacuous, simulation: settings.name,
            happened: replacedHooks
                ?? reason + ", or ignore '.vacuous' (law 33)." + noteOnUncontrolled,
            schedule: 0, switches: 0, token: nil, story: .none)
    }

    /// Ends the search early if the system would soon refuse to create threads.
    private var tooManyAbandoned: SimulationFailure? {
        guard HostThread.hasAbandonedMost else { return nil }
        return SimulationFailure(
            kind: .misuse, simulation: settings.name,
            happened:
                "The simulations of this process have left \(HostThread.mostAbandoned.withLock { $0 }) blocked threads behind: each schedule that "
                + "deadlocks leaves some. Search in another process, or for fewer schedules (law 33).",
            schedule: 0, switches: 0, token: nil, story: .none)
    }

    /// Runs all schedules of few switches, those with fewer first: each adds one switch to a known
    /// one.
    private func exhaust(_ most: Int, after first: Outcome) -> SimulationReport {
        var waiting = [Schedule()]
        var next = 0
        var inversion: (Outcome, Int)?
        var isCut = false
        while next < waiting.count && next < settings.schedules
            && mayGoOn
        {
            let schedule = waiting[next]
            next += 1
            let chooser = ExhaustingChooser(schedule)
            let outcome = run(chooser)
            hosts.didTry(outcome.decisions)
            if outcome.finding != nil { return report(next, failure: explain(outcome, next)) }
            if inversion == nil, outcome.inversion != nil { inversion = (outcome, next) }
            isCut = isCut || outcome.isCut || !chooser.hasApplied
            // Schedules beyond the limit never run, so they are not kept.
            if schedule.switches.count < most && waiting.count <= settings.schedules {
                waiting += chooser.alternatives.map { Schedule(switches: schedule.switches + [$0]) }
            }
        }
        if let changed = changeSince(first) { return report(next, failure: changed) }
        let failure = inversion.flatMap { explainInversion($0.0, $0.1) }
        return report(next, isComplete: next == waiting.count && !isCut, failure: failure)
    }
}
