internal import ExecutionContexts
internal import Foundation

/// Runs a program under many schedules and throws what goes wrong in one of them.
///
/// The body says who there is, and is run anew for every schedule. Threads run one at a time; at each operation of a
/// primitive of this library, of a simulated context or of a `Tracked` value another one may get the turn:
///
/// ```swift
/// try simulate("overdraw", schedules: 2_000) { sim in
///     let account = Account(on: sim.serial("account"))
///     sim.spawn("alice") { account.withdraw(80) }
///     sim.spawn("bob") { account.withdraw(80) }
///     sim.invariant("never below zero") { account.balance >= 0 }
/// }
/// ```
///
/// It throws where it is called, once, so that every test framework reports it in its own way. The error's text says
/// who did what and when the turn went elsewhere, and ends with a token that replays exactly that: as `replay`, or as
/// `EXECUTION_CONTEXTS_REPLAY` in the environment, where it concerns the one simulation that it came from.
///
/// Besides what `invariant` and `finally` check, it finds deadlocks, lost wake-ups, programs that never end, locks taken in
/// opposite orders, leftover work and errors. What is found is real: it happened in the shipped code, under that schedule
/// (law 33). What the simulation cannot control - foreign threads, real time, locks of the system - it reports.
///
/// `.global` and `.pool`, which code takes that is given no context, are simulated as well: as `sim.global`, in simulated time.
///
/// A data race has no scheduling point: `value += 1` runs as a whole, unless `value` is `Tracked`. But under the thread
/// sanitizer the simulation hides no race: it passes the turn in a way that the sanitizer does not see, and orders only what
/// the program itself orders.
///
/// The caller is blocked until the end, which async code must not be: there `simulate` is the awaited twin of this, and wants
/// `try await`. All that runs, the body included, runs on threads of the simulation's own.
///
/// - Parameters:
///   - name: what the simulation is called, in messages; a token belongs to a name.
///   - schedules: how many schedules to try at most.
///   - strategy: how they are chosen.
///   - time: when simulated time goes on.
///   - token: a token of a failure, to run that schedule and no other.
///   - seed: decides everything that the strategy leaves to chance.
///   - steps: how long one schedule may get before it counts as endless.
///   - horizon: how far simulated time may go. A delay that is due later is left over.
///   - patience: how long, in real time, nothing may happen before a thread counts as blocked.
///   - ignoring: kinds of failures that are none here.
///   - body: says who there is, and what must hold.
public func simulate(
    _ name: String, schedules: Int = 1_000, strategy: SimulationStrategy = .portfolio,
    time: SimulationTime = .whenIdle, replay token: String? = nil, seed: UInt64 = 0, steps: Int = 20_000,
    horizon: Duration = .seconds(3_600), patience: Duration = .seconds(10),
    ignoring: Set<SimulationFailure.Kind> = [], _ body: @escaping @Sendable (SimulatedWorld) throws -> Void
) throws(SimulationFailure) {
    let report = search(
        name, schedules: schedules, strategy: strategy, time: time, replay: token, seed: seed, steps: steps,
        horizon: horizon, patience: patience, ignoring: ignoring, body)
    if let failure = report.failure { throw failure }
}

/// Runs a program under many schedules, as `simulate` does, and returns what came of it instead of throwing.
public func search(
    _ name: String, schedules: Int = 1_000, strategy: SimulationStrategy = .portfolio,
    time: SimulationTime = .whenIdle, replay token: String? = nil, seed: UInt64 = 0, steps: Int = 20_000,
    horizon: Duration = .seconds(3_600), patience: Duration = .seconds(10),
    ignoring: Set<SimulationFailure.Kind> = [], _ body: @escaping @Sendable (SimulatedWorld) throws -> Void
) -> SimulationReport {
    let settings = Settings(
        name: name, schedules: schedules, strategy: strategy, time: time, seed: seed, steps: steps,
        horizon: Moment(nanoseconds: 0).advanced(by: horizon).nanoseconds, patience: patience,
        ignoring: ignoring)
    func misuse(_ sentence: String) -> SimulationReport {
        let failure = SimulationFailure(
            kind: .misuse, simulation: name, happened: sentence, schedule: 0, switches: 0, token: nil,
            story: [])
        return SimulationReport(schedules: 0, isComplete: false, failure: failure)
    }
    if LaneThread.current != nil {
        return misuse(
            "It was started inside another simulation, whose threads run one at a time. Start it from the test itself."
        )
    }
    if schedules < 1 {
        return misuse("\(schedules) schedules were asked for, and would show nothing. Ask for one at least.")
    }
    do {
        let schedule = try requested(token, settings.identity)
        return Search(settings, body).perform(replaying: schedule)
    } catch {
        switch error {
        case .otherTest:
            return misuse(
                "The token '\(token ?? "")' belongs to another simulation, or to another setting of 'time'. Take the token that "
                    + "a failure of this one printed.")
        case .otherVersion:
            return misuse(
                "The token was made by another version of this library. Remove it, and search again for a new one."
            )
        case .unreadable:
            return misuse("The token cannot be read. Copy it from the failure as a whole.")
        }
    }
}

/// The schedule to replay, if any: of the argument, or of the environment where that means this simulation.
private func requested(_ token: String?, _ identity: String) throws(Schedule.TokenError) -> Schedule? {
    if let token { return try Schedule.parse(token, for: identity) }
    guard let wanted = ProcessInfo.processInfo.environment["EXECUTION_CONTEXTS_REPLAY"] else { return nil }
    do {
        return try Schedule.parse(wanted, for: identity)
    } catch {
        // The other simulations of the process run as ever.
        if error == .otherTest { return nil }
        throw error
    }
}
