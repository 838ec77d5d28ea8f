internal import ExecutionContexts

/// Runs a program under many schedules, as the synchronous `simulate` does, without blocking the
/// caller's thread.
///
/// Async code gets this overload, and a call without `await` does not compile: a search takes
/// seconds, and would block one of the few threads that run all tasks. It ends at the first failure
/// or after the last schedule. Cancelling the task does not end it earlier.
public func simulate(
    _ name: String, schedules: Int = 1_000, strategy: SimulationStrategy = .portfolio,
    time: SimulationTime = .whenIdle, replay token: String? = nil, seed: UInt64 = 0,
    steps: Int = 20_000,
    horizon: Duration = .seconds(3_600), patience: Duration = .seconds(10),
    ignoring: Set<SimulationFailure.Kind> = [],
    _ body: @escaping @Sendable (SimulatedWorld) throws -> Void
) async throws(SimulationFailure) {
    let report = await search(
        name, schedules: schedules, strategy: strategy, time: time, replay: token, seed: seed,
        steps: steps,
        horizon: horizon, patience: patience, ignoring: ignoring, body)
    if let failure = report.failure { throw failure }
}

/// Runs a program under many schedules, as the awaited `simulate` does, and returns a report
/// instead of throwing.
public func search(
    _ name: String, schedules: Int = 1_000, strategy: SimulationStrategy = .portfolio,
    time: SimulationTime = .whenIdle, replay token: String? = nil, seed: UInt64 = 0,
    steps: Int = 20_000,
    horizon: Duration = .seconds(3_600), patience: Duration = .seconds(10),
    ignoring: Set<SimulationFailure.Kind> = [],
    _ body: @escaping @Sendable (SimulatedWorld) throws -> Void
) async -> SimulationReport {
    let isInside = HostThread.current != nil
    return await withCheckedContinuation { continuation in
        let search: @Sendable () -> SimulationReport = {
            ExecutionContextsTesting.search(
                name, schedules: schedules, strategy: strategy, time: time, replay: token,
                seed: seed,
                steps: steps, horizon: horizon, patience: patience, ignoring: ignoring, body)
        }
        // A search inside another simulation is refused on the spot.
        if isInside { return continuation.resume(returning: search()) }
        startThread { continuation.resume(returning: search()) }
    }
}
