public import ExecutionContexts

/// The interface with which the body of a simulation builds its program.
///
/// It belongs to one schedule: do not keep it, or any part of it, for longer.
public final class SimulatedWorld: Sendable {
    let scheduler: SimulationScheduler

    init(_ scheduler: SimulationScheduler) {
        self.scheduler = scheduler
        mainContext = SimulatedSerialContext(
            SimulatedJobQueue(Names.main, width: 1, on: scheduler), scheduler)
        globalContext = SimulatedGlobalContext(scheduler)
    }

    // MARK: Threads and tasks

    /// Starts a thread. An error that it throws is a failure.
    public func spawn(_ name: String, _ body: @escaping @Sendable () throws -> Void) {
        scheduler.spawn(name) { [scheduler] in
            do {
                try body()
            } catch {
                HiddenFromSanitizer.begin()
                scheduler.fail(.threw, "'\(name)' threw \(SimulationScheduler.text(error))")
                HiddenFromSanitizer.end()
            }
        }
    }

    /// Starts a task whose parts run in the simulation: awaited calls, `async let`, groups, actors,
    /// continuations.
    ///
    /// So do the tasks that it starts itself. `Task.sleep` and clocks are in simulated time.
    public func task(_ name: String, _ body: @escaping @Sendable () async throws -> Void) {
        scheduler.startTask(name, body)
    }

    // MARK: Contexts

    private let mainContext: SimulatedSerialContext
    private let globalContext: SimulatedGlobalContext

    /// A serial context that replaces main.
    public var main: SimulatedSerialContext { mainContext }

    /// A concurrent context that replaces `.global` and `.pool`; their jobs run here, too.
    public var global: SimulatedGlobalContext { globalContext }

    /// Creates a serial context.
    public func serial(named name: String) -> SimulatedSerialContext {
        SimulatedSerialContext(name, scheduler)
    }

    /// Creates a concurrent context that supports barriers.
    public func barrier(named name: String) -> SimulatedBarrierContext {
        SimulatedBarrierContext(name, scheduler)
    }

    // MARK: Time

    /// The time of every context of the simulation. It starts at zero.
    public var time: any TimeSource { scheduler.clock }

    /// A clock of the same time, for tasks that sleep.
    public var clock: SimulatedClock { SimulatedClock(scheduler) }

    // MARK: Conditions

    /// Declares a condition that must hold at every scheduling point, and so whenever another
    /// thread could observe it.
    ///
    /// No other thread runs while the condition is checked. So it may read without a lock, and it
    /// must not wait for one. It runs often: keep it short.
    public func invariant(
        _ name: String, fileID: StaticString = #fileID, line: UInt = #line,
        _ holds: @escaping @Sendable () throws -> Bool
    ) {
        HiddenFromSanitizer.begin()
        if scheduler.callerOrReport(using: name) != nil {
            scheduler.conditions =
                scheduler.conditions + [.init(name, fileID, line, holds)]
        }
        HiddenFromSanitizer.end()
    }

    /// Declares a condition that must hold when all threads and tasks have ended. It may take
    /// locks, and wait.
    public func finally(
        _ name: String, fileID: StaticString = #fileID, line: UInt = #line,
        _ holds: @escaping @Sendable () throws -> Bool
    ) {
        HiddenFromSanitizer.begin()
        if scheduler.callerOrReport(using: name) != nil {
            scheduler.lastConditions =
                scheduler.lastConditions + [.init(name, fileID, line, holds)]
        }
        HiddenFromSanitizer.end()
    }

    /// A scheduling point, for code that has none.
    public func step() {
        HiddenFromSanitizer.begin()
        if let thread = scheduler.caller {
            scheduler.point(thread)
            scheduler.trace?.add(thread, .passes("sim.step()"))
            // The code that follows may use what the simulation does not see.
            scheduler.log?.addAll()
        }
        HiddenFromSanitizer.end()
    }

    /// A scheduling point at which the other threads run first, for a loop that polls.
    public func yield() {
        HiddenFromSanitizer.begin()
        if let thread = scheduler.caller {
            scheduler.point(thread, yields: true)
            scheduler.log?.addAll()
        }
        HiddenFromSanitizer.end()
    }
}
