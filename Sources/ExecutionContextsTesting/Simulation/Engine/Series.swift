internal import ExecutionContexts

/// The schedules that a search runs one after another.
///
/// The host on which a schedule ends begins the next one, without a switch of system threads. If
/// that host is blocked forever, the search's own thread begins the next one.
final class Series {
    private let search: Search
    private let chooser: Chooser
    private let isTraced: Bool
    private let goesOn: (Search.Outcome) -> Bool
    private var scheduler: SimulationScheduler?
    private var isOver = false

    init(
        _ search: Search, _ chooser: Chooser, tracing: Bool,
        _ goesOn: @escaping (Search.Outcome) -> Bool
    ) {
        (self.search, self.chooser, isTraced, self.goesOn) = (search, chooser, tracing, goesOn)
    }

    /// Runs all schedules; on the search's own thread.
    func run() {
        repeat {
            let first = begin()
            if isOver { break }
            if let first { scheduler?.host(of: first).schedulerToken.pass() }
            search.hosts.searchToken.wait()
            // Either the series is over, or a schedule has ended.
            if !isOver { end() }
        } while !isOver
        scheduler = nil
    }

    /// Ends a schedule on its last host; returns the thread with which the next one begins there.
    func next(on host: HostThread) -> SimulatedThread? {
        end()
        if !isOver, let first = begin() {
            first.host = host
            host.assign(first, on: scheduler)
            return first
        }
        isOver = true
        search.hosts.free(host)
        host.end(search.hosts)
        return nil
    }

    private func begin() -> SimulatedThread? {
        if search.isGivenUp {
            isOver = true
            return nil
        }
        let trace = isTraced ? SimulationTrace() : nil
        chooser.begin()
        let scheduler = SimulationScheduler(search.settings, chooser, search.hosts, trace: trace)
        self.scheduler = scheduler
        let world = SimulatedWorld(scheduler)
        return scheduler.begin { [body = search.body] in
            do {
                try body(world)
            } catch {
                HiddenFromSanitizer.begin()
                scheduler.fail(
                    .threw, "The simulation's body threw \(SimulationScheduler.text(error))")
                HiddenFromSanitizer.end()
            }
        }
    }

    private func end() {
        guard let scheduler else { return }
        self.scheduler = nil
        let outcome = search.outcome(of: scheduler)
        if let log = scheduler.log { log.threadNames = scheduler.threads.map(\.name) }
        chooser.end(operations: outcome.operations)
        let ended = scheduler.threads.filter(\.isDone)
        // Frees the program's remaining objects, whose deinits may synchronize with others.
        HiddenFromSanitizer.suspended {
            for thread in ended { thread.edge.acquire() }
            // Their jobs run outside, since this schedule is over: ordinary contexts lose no job.
            search.hosts.closing {
                guard let host = HostThread.current else { return scheduler.close() }
                host.outside { scheduler.close() }
            }
        }
        search.hosts.keep(scheduler.threads)
        // A thread that waits for a condition may hold a lock whose owner others look up.
        for thread in scheduler.threads where !thread.isDone && !thread.waitsForCondition {
            thread.host?.abandon()
        }
        search.hosts.taskLease.scheduleDidEnd()
        isOver = !goesOn(outcome)
    }
}

extension Search {
    /// The outcome of a finished schedule.
    func outcome(of scheduler: SimulationScheduler) -> Outcome {
        var finding = scheduler.failure
        if finding?.kind == .lostWakeUp,
            let thread = scheduler.threads.first(where: {
                !$0.isDone && $0.host?.wasWokenFromOutside == true
            })
        {
            hosts.report(
                foreign:
                    "'\(thread.name)' was woken by a thread that the simulation does not control (law 33). "
                    + "Let threads and contexts of the simulation do what it waits for.")
        }
        if let foreign = hosts.takeForeignUse() {
            finding = Finding(kind: .foreign, message: foreign)
        }
        if let found = finding, [.foreign, .lostWakeUp].contains(found.kind) {
            finding = Finding(kind: found.kind, message: found.message + hosts.noteOnDispatch)
        }
        return Outcome(
            finding: finding, inversion: scheduler.inversion,
            schedule: Schedule(switches: scheduler.switches),
            decisions: scheduler.decisions,
            // Only an outcome that is explained needs them.
            names: scheduler.trace == nil ? [] : scheduler.threads.map(\.name),
            trace: scheduler.trace,
            stepsToFailure: scheduler.stepsToFailure ?? scheduler.decisions.count,
            operations: scheduler.threads.map(\.operations), isCut: scheduler.isFair,
            waitsForCondition: scheduler.threads.contains(where: \.waitsForCondition),
            waitsForCounter: scheduler.threads.contains(where: \.waitsForCounter))
    }
}
