internal import ExecutionContexts

/// Runs async code in the same order each time, with simulated time.
///
/// For ordinary tests of async code. Its tasks, actors and the main actor run on one thread: each
/// task runs until it suspends, then the one that became ready first runs. `Task.sleep` takes no
/// time, and on Linux the clocks show the simulated time.
///
/// ```swift
/// let text = try await withDeterministicTasks {
///     let search = Task { try await Task.sleep(for: .seconds(3)); return "found" }
///     return try await search.value
/// }
/// ```
///
/// Inside a simulation the code runs as a part of it. Cancelling the caller's task does not cancel
/// the code.
///
/// It shows one order out of many. For tests of races use `simulate`, which searches for an order
/// that fails.
///
/// - Parameters:
///   - steps: how many steps the code may take.
///   - horizon: how far simulated time may advance.
///   - patience: how long, in real time, the code may block its thread.
///   - ignoring: kinds of failures to ignore. With `.lostWakeUp`, tasks that wait forever, such as
///     subscriptions, may be left.
///   - body: the code. It has the task-local values of the caller.
/// - Returns: what the body returns.
/// - Throws: what the body throws; or a `SimulationFailure` if the body never ends, or leaves tasks
///   behind that nothing will resume.
public func withDeterministicTasks<Value: Sendable>(
    steps: Int = 500_000, horizon: Duration = .seconds(3_600),
    patience: Duration = .seconds(10), ignoring: Set<SimulationFailure.Kind> = [],
    @_inheritActorContext _ body: @escaping @Sendable () async throws -> Value
) async throws -> Value {
    // Inside a simulation the code is a part of it.
    if HostThread.current != nil { return try await body() }
    let locals = await TaskLocals()
    defer { locals.end() }
    let result = Locked<Result<Value, any Error>?>(nil)
    var settings = Settings(
        name: "withDeterministicTasks", schedules: 1, strategy: .portfolio, time: .whenIdle,
        seed: 0, steps: steps,
        horizon: ContextInstant(nanoseconds: 0).advanced(by: horizon).nanoseconds,
        patience: patience, ignoring: ignoring)
    settings.isSearch = false
    let search = Search(settings) { world in
        world.scheduler.startFirstTask(locals) {
            do {
                let value = try await body()
                result.withLock { $0 = .success(value) }
            } catch {
                result.withLock { $0 = .failure(error) }
            }
        }
    }
    let failure = await search.failureOfUsualOrder()
    // An error of the body is more important than leftover work.
    if case .failure(let error) = result.withLock({ $0 }) { throw error }
    if let failure { throw failure }
    guard let result = result.withLock({ $0 }) else {
        // The failure that would report this is ignored.
        throw SimulationFailure(
            kind: .lostWakeUp, simulation: settings.name,
            happened: "The body has not ended, and nothing is left that could resume it.",
            schedule: 0, switches: 0, token: nil, story: .none)
    }
    return try result.get()
}

extension Search {
    /// Runs the program in the usual order, on separate threads; the caller's thread is not
    /// blocked.
    fileprivate func failureOfUsualOrder() async -> SimulationFailure? {
        await withCheckedContinuation { continuation in
            startThread {
                continuation.resume(
                    returning: self.perform(replaying: Token(schedule: Schedule(), path: nil))
                        .failure)
            }
        }
    }
}
