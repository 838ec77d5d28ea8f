internal import CSimulation
internal import ExecutionContexts

/// Why no search can see what tasks do in this process; nil if searches can.
package var obstacleToSearches: String? { ProcessExecutors.obstacle }

/// Searches a program that its caller may not keep: the function of a test.
///
/// A schedule that fails may leave tasks behind that are suspended in the program for ever. Each
/// refers to the closure, which must have no other reference when it goes back: so those of the
/// tasks are given up here. They never run again, and so never release it: what would resume them
/// is refused (law 33).
///
/// A thread that was blocked may go on. `reportBlocked` gets the report at once, and the call
/// returns when that thread has come to an end.
package func search(
    lending program: @Sendable () async throws -> Void, to name: String, schedules: Int,
    strategy: SimulationStrategy, time: SimulationTime, replay token: String?, seed: UInt64,
    steps: Int, patience: Duration, ignoring: Set<SimulationFailure.Kind>,
    reportBlocked: (SimulationReport) async -> Void,
    _ body:
        @escaping @Sendable (
            _ world: SimulatedWorld, _ program: @Sendable () async throws -> Void
        ) async throws -> Void
) async -> SimulationReport {
    var settings = Settings(
        name: name, schedules: schedules, strategy: strategy, time: time, seed: seed, steps: steps,
        horizon: ContextInstant(nanoseconds: 0).advanced(by: .seconds(3_600)).nanoseconds,
        patience: patience, ignoring: ignoring)
    settings.printsUncontrolled = false
    return await withoutActuallyEscaping(program) { program in
        let loan = Loan(program: program)
        let locals = await TaskLocals()
        let report = await search(settings, replay: token) { world in
            world.scheduler.startFirstTask(locals) { try await body(world, loan.program) }
        }
        if report.failure?.kind == .blocked {
            await reportBlocked(report)
            await settings.isOver.happened()
        }
        locals.end()
        loan.end()
        return report
    }
}

extension Signal {
    /// Waits without blocking the caller's thread.
    fileprivate func happened() async {
        await withCheckedContinuation { continuation in
            startThread {
                self.wait()
                continuation.resume()
            }
        }
    }
}

/// A program on loan.
@safe private final class Loan: @unchecked Sendable {
    // Unchecked: it changes once the search has ended, and then no thread reads it.
    private struct Storage {
        var program: @Sendable () async throws -> Void
    }

    private var storage: Storage?

    init(program: @escaping @Sendable () async throws -> Void) {
        storage = Storage(program: program)
    }

    var program: @Sendable () async throws -> Void { storage!.program }

    func end() {
        // A closure is two words, of which the second refers to what it has captured.
        let words = unsafe unsafeBitCast(storage!, to: (UInt, UnsafeMutableRawPointer?).self)
        storage = nil
        if let captures = unsafe words.1 { unsafe ecs_release_all_but_one(captures) }
    }
}
