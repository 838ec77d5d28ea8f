internal import ExecutionContexts

/// Runs a program under many schedules, as the synchronous `simulate` does, without blocking the
/// caller's thread.
///
/// Async code gets this overload, and a call without `await` does not compile: a search takes
/// seconds, and would block one of the few threads that run all tasks. It ends at the first failure
/// or after the last schedule. If the task is cancelled, the schedule that runs is the last.
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
    let settings = Settings(
        name: name, schedules: schedules, strategy: strategy, time: time, seed: seed, steps: steps,
        horizon: ContextInstant(nanoseconds: 0).advanced(by: horizon).nanoseconds,
        patience: patience,
        ignoring: ignoring)
    return await search(settings, replay: token, body)
}

/// The same, by settings.
func search(
    _ settings: Settings, replay token: String?,
    _ body: @escaping @Sendable (SimulatedWorld) throws -> Void
) async -> SimulationReport {
    let isInside = HostThread.current != nil
    return await withTaskCancellationHandler {
        await withCheckedContinuation { continuation in
            let search: @Sendable () -> SimulationReport = {
                ExecutionContextsTesting.search(settings, replay: token, body)
            }
            // A search inside another simulation is refused at once.
            if isInside { return continuation.resume(returning: search()) }
            startThread { continuation.resume(returning: search()) }
        }
    } onCancel: {
        settings.cancelling.request()
    }
}

/// Runs plain Swift concurrency under many schedules, and throws the first failure.
///
/// The body is the first task of the program. It and all tasks that it starts run in the
/// simulation: `Task { }`, groups, `async let`, actors, the main actor, streams, continuations,
/// `Task.sleep`. Each part of a task, from one suspension to the next, is one step, and the
/// simulation decides which task's step is next. The schedule ends when no task can continue.
///
/// ```swift
/// actor Cart {
///     private(set) var count = 0
///     func add() async { let old = count; await Task.yield(); count = old + 1 }
/// }
/// struct Lost: Error {}
///
/// try await simulate("two clicks") { _ in
///     let cart = Cart()
///     async let one: Void = cart.add()
///     async let two: Void = cart.add()
///     _ = await (one, two)
///     if await cart.count < 2 { throw Lost() }
/// }
/// ```
///
/// An error that the body throws is a failure. So are a task that no code will resume, and all
/// failures that the synchronous `simulate` finds. It takes the same parameters.
public func simulate(
    _ name: String, schedules: Int = 1_000, strategy: SimulationStrategy = .portfolio,
    time: SimulationTime = .whenIdle, replay token: String? = nil, seed: UInt64 = 0,
    steps: Int = 20_000,
    horizon: Duration = .seconds(3_600), patience: Duration = .seconds(10),
    ignoring: Set<SimulationFailure.Kind> = [],
    @_inheritActorContext _ body: @escaping @Sendable (SimulatedWorld) async throws -> Void
) async throws(SimulationFailure) {
    let report = await search(
        name, schedules: schedules, strategy: strategy, time: time, replay: token, seed: seed,
        steps: steps,
        horizon: horizon, patience: patience, ignoring: ignoring, body)
    if let failure = report.failure { throw failure }
}

/// Runs plain Swift concurrency under many schedules, as `simulate` does, and returns a report
/// instead of throwing.
public func search(
    _ name: String, schedules: Int = 1_000, strategy: SimulationStrategy = .portfolio,
    time: SimulationTime = .whenIdle, replay token: String? = nil, seed: UInt64 = 0,
    steps: Int = 20_000,
    horizon: Duration = .seconds(3_600), patience: Duration = .seconds(10),
    ignoring: Set<SimulationFailure.Kind> = [],
    @_inheritActorContext _ body: @escaping @Sendable (SimulatedWorld) async throws -> Void
) async -> SimulationReport {
    let locals = await TaskLocals()
    defer { locals.end() }
    let program: @Sendable (SimulatedWorld) -> Void = { world in
        world.scheduler.startFirstTask(locals) { try await body(world) }
    }
    return await search(
        name, schedules: schedules, strategy: strategy, time: time, replay: token, seed: seed,
        steps: steps,
        horizon: horizon, patience: patience, ignoring: ignoring, program)
}
