internal import ExecutionContexts

/// Runs a program under many schedules, as the synchronous `simulate` does, while the caller waits without a thread.
///
/// In async code this one is meant, and a call without `await` does not compile: a search takes seconds, and would keep one of
/// the few threads that run all tasks. It ends when it has found something or has tried enough; cancelling the task does not
/// end it earlier.
public func simulate(
    _ name: String, schedules: Int = 1_000, strategy: SimulationStrategy = .portfolio,
    time: SimulationTime = .whenIdle, replay token: String? = nil, seed: UInt64 = 0, steps: Int = 20_000,
    horizon: Duration = .seconds(3_600), patience: Duration = .seconds(10),
    ignoring: Set<SimulationFailure.Kind> = [], _ body: @escaping @Sendable (SimulatedWorld) throws -> Void
) async throws(SimulationFailure) {
    let report = await search(
        name, schedules: schedules, strategy: strategy, time: time, replay: token, seed: seed, steps: steps,
        horizon: horizon, patience: patience, ignoring: ignoring, body)
    if let failure = report.failure { throw failure }
}

/// Runs a program under many schedules, as the awaited `simulate` does, and returns what came of it instead of throwing.
public func search(
    _ name: String, schedules: Int = 1_000, strategy: SimulationStrategy = .portfolio,
    time: SimulationTime = .whenIdle, replay token: String? = nil, seed: UInt64 = 0, steps: Int = 20_000,
    horizon: Duration = .seconds(3_600), patience: Duration = .seconds(10),
    ignoring: Set<SimulationFailure.Kind> = [], _ body: @escaping @Sendable (SimulatedWorld) throws -> Void
) async -> SimulationReport {
    let isInside = LaneThread.current != nil
    return await withCheckedContinuation { continuation in
        let search: @Sendable () -> SimulationReport = {
            ExecutionContextsTesting.search(
                name, schedules: schedules, strategy: strategy, time: time, replay: token, seed: seed,
                steps: steps, horizon: horizon, patience: patience, ignoring: ignoring, body)
        }
        // Inside another simulation it is refused, on the spot.
        if isInside { return continuation.resume(returning: search()) }
        startThread { continuation.resume(returning: search()) }
    }
}
