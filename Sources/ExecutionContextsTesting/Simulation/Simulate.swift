internal import ExecutionContexts
internal import Foundation

/// Runs a program under many schedules and throws the first failure.
///
/// The body builds the program, and runs anew for every schedule. Threads run one at a time. Each
/// operation of a primitive of this library, of a simulated context or of a `Tracked` value is a
/// scheduling point, where another thread may run:
///
/// ```swift
/// try simulate("overdraw", schedules: 2_000) { sim in
///     let account = Account(on: sim.serial(named: "account"))
///     sim.spawn("alice") { account.withdraw(80) }
///     sim.spawn("bob") { account.withdraw(80) }
///     sim.invariant("never below zero") { account.balance >= 0 }
/// }
/// ```
///
/// It throws once, at the call, so that every test framework reports it in its own way. The error's
/// text lists the events and the switches of the schedule. It ends with a token that replays
/// exactly that schedule: as `replay`, or as `EXECUTION_CONTEXTS_REPLAY` in the environment, which
/// applies only to the simulation that the token came from.
///
/// Besides failures of `invariant` and `finally`, it finds deadlocks, lost wake-ups, programs that
/// never end, locks taken in opposite orders, leftover work and errors. Each finding is real: it
/// happened in the shipped code, under that schedule (law 33). It reports what the simulation
/// cannot control, as foreign threads and real time. If no order of the program could make a
/// difference that the search sees, it fails with `.vacuous`, which `ignoring` allows.
///
/// `.global` and `.pool`, the defaults of code that is given no context, are simulated, too: as
/// `sim.global`, in simulated time.
///
/// A data race has no scheduling point: `value += 1` runs as a whole, unless `value` is `Tracked`.
/// But the simulation hides no race from the thread sanitizer: the sanitizer does not see the
/// scheduler token, only the order that the program itself creates.
///
/// It blocks the caller until the end, which async code must not do. There, `simulate` is the
/// awaited overload, and requires `try await`. The program, including its body, runs on threads of
/// the simulation.
///
/// - Parameters:
///   - name: the name of the simulation in messages; a token belongs to a name.
///   - schedules: how many schedules to try at most.
///   - strategy: how the schedules are chosen.
///   - time: when simulated time advances.
///   - token: a token of a failure, to run only that schedule.
///   - seed: the seed of every random decision of the strategy.
///   - steps: how many steps a schedule may take, besides six for each task that lives. Then the
///     threads run round-robin, and after as many steps again the program counts as endless.
///   - horizon: how far simulated time may advance. A delay that is due later is left over.
///   - patience: how long, in real time, a thread may make no progress before it counts as blocked.
///   - ignoring: kinds of failures to ignore.
///   - body: builds the program, and declares its conditions.
public func simulate(
    _ name: String, schedules: Int = 1_000, strategy: SimulationStrategy = .portfolio,
    time: SimulationTime = .whenIdle, replay token: String? = nil, seed: UInt64 = 0,
    steps: Int = 20_000,
    horizon: Duration = .seconds(3_600), patience: Duration = .seconds(10),
    ignoring: Set<SimulationFailure.Kind> = [],
    _ body: @escaping @Sendable (SimulatedWorld) throws -> Void
) throws(SimulationFailure) {
    let report = search(
        name, schedules: schedules, strategy: strategy, time: time, replay: token, seed: seed,
        steps: steps,
        horizon: horizon, patience: patience, ignoring: ignoring, body)
    if let failure = report.failure { throw failure }
}

/// Runs a program under many schedules, as `simulate` does, and returns a report instead of
/// throwing.
public func search(
    _ name: String, schedules: Int = 1_000, strategy: SimulationStrategy = .portfolio,
    time: SimulationTime = .whenIdle, replay token: String? = nil, seed: UInt64 = 0,
    steps: Int = 20_000,
    horizon: Duration = .seconds(3_600), patience: Duration = .seconds(10),
    ignoring: Set<SimulationFailure.Kind> = [],
    _ body: @escaping @Sendable (SimulatedWorld) throws -> Void
) -> SimulationReport {
    let settings = Settings(
        name: name, schedules: schedules, strategy: strategy, time: time, seed: seed, steps: steps,
        horizon: ContextInstant(nanoseconds: 0).advanced(by: horizon).nanoseconds,
        patience: patience,
        ignoring: ignoring)
    return search(settings, replay: token, body)
}

/// The same, with settings.
func search(
    _ settings: Settings, replay token: String?,
    _ body: @escaping @Sendable (SimulatedWorld) throws -> Void
) -> SimulationReport {
    var settings = settings
    let name = settings.name
    func misuse(_ message: String) -> SimulationReport {
        let failure = SimulationFailure(
            kind: .misuse, simulation: name, happened: message, schedule: 0, switches: 0,
            token: nil,
            story: .none)
        return SimulationReport(
            simulation: name, schedules: 0, distinctSchedules: 0, choices: 0, pendingTimes: 0,
            orders: nil,
            reversals: nil, triedReversals: nil, pairs: nil,
            isComplete: false, missedChanges: nil, failure: failure, met: Uncontrolled(),
            time: settings.time)
    }
    if HostThread.current != nil {
        return misuse(
            "It was started inside another simulation, whose threads run one at a time. Start it from the test itself."
        )
    }
    do {
        if settings.isSearch { try SearchEnvironment().apply(to: &settings) }
    } catch {
        return misuse(error.message)
    }
    let schedules = settings.schedules
    if schedules < 1 {
        return misuse(
            "'schedules' is \(schedules), which tests nothing. Pass at least 1.")
    }
    if settings.strategy.kind == .orders, settings.time != .whenIdle {
        return misuse(
            "The exhaustive strategy tries all orders of threads, but cannot try all instants at which time may advance. Use "
                + "'time: .whenIdle', or another strategy.")
    }
    do {
        let wanted = try requested(token, settings.identity)
        return Search(settings, body).perform(replaying: wanted)
    } catch {
        switch error {
        case .otherTest:
            return misuse(
                "The token '\(token ?? "")' belongs to another simulation, or to another setting of 'time'. Use the token that "
                    + "a failure of this one printed.")
        case .otherVersion:
            return misuse(
                "The token was made by another version of this library. Remove it, and search again for a new one."
            )
        case .unreadable:
            return misuse("The token cannot be read. Copy it from the failure completely.")
        }
    }
}

/// The token to replay, if any: from the argument, or from the environment if it belongs to this
/// simulation.
private func requested(_ token: String?, _ identity: String) throws(Token.Mistake)
    -> Token?
{
    if let token { return try Token.parse(token, for: identity) }
    guard let wanted = ProcessInfo.processInfo.environment["EXECUTION_CONTEXTS_REPLAY"] else {
        return nil
    }
    do {
        return try Token.parse(wanted, for: identity)
    } catch {
        // The other simulations of the process run as usual.
        if error == .otherTest { return nil }
        throw error
    }
}
