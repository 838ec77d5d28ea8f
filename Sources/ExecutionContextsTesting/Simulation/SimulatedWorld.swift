public import ExecutionContexts

/// What the body of a simulation builds its program from.
///
/// It belongs to one schedule: do not keep it, or anything of it, beyond that.
public final class SimulatedWorld: Sendable {
    let stage: Stage
    private let tasks: SimulatedTaskExecutor

    init(_ stage: Stage) {
        self.stage = stage
        tasks = SimulatedTaskExecutor(stage)
        mainContext = SimulatedSerialContext("main", stage)
        globalContext = SimulatedGlobalContext(stage)
    }

    // MARK: Who there is

    /// Starts a thread. An error that it throws is a failure.
    public func spawn(_ name: String, _ body: @escaping @Sendable () throws -> Void) {
        stage.spawn(name) { [stage] in
            do {
                try body()
            } catch {
                Unseen.begin()
                stage.fail(.threw, "'\(name)' threw \(error).")
                Unseen.end()
            }
        }
    }

    /// Starts a task, whose parts run in the simulation: what awaits, `async let`, groups, actors, continuations.
    ///
    /// It prefers a simulated executor. What Swift runs elsewhere all the same - a `Task { }` of its own, an actor with its own
    /// executor, a sleep of `Task` - is not controlled, and is reported when it comes back. Sleep by `clock`.
    public func task(_ name: String, _ body: @escaping @Sendable () async throws -> Void) {
        tasks.start(name, body)
    }

    // MARK: Contexts

    private let mainContext: SimulatedSerialContext
    private let globalContext: SimulatedGlobalContext

    /// A serial context in the place of main.
    public var main: SimulatedSerialContext { mainContext }

    /// A concurrent context in the place of `.global` and of `.pool`, whose work comes here, too.
    public var global: SimulatedGlobalContext { globalContext }

    /// A new serial context.
    public func serial(_ name: String) -> SimulatedSerialContext { SimulatedSerialContext(name, stage) }

    /// A new concurrent context that keeps barriers.
    public func barrier(_ name: String) -> SimulatedBarrierContext { SimulatedBarrierContext(name, stage) }

    // MARK: Time

    /// The time of every context of the simulation. It begins at zero.
    public var time: any TimeSource { stage.clock }

    /// A clock of the same time, to sleep by in tasks.
    public var clock: SimulatedClock { SimulatedClock(stage) }

    // MARK: What must hold

    /// Says what must hold at every point at which the turn may change, and so whenever anybody could look.
    ///
    /// Nobody else runs while it is asked, so it may read without a lock; and it must not wait for one. It runs often:
    /// keep it short.
    public func invariant(_ name: String, _ holds: @escaping @Sendable () throws -> Bool) {
        Unseen.begin()
        stage.conditions.append(.init(name: name, holds: holds))
        Unseen.end()
    }

    /// Says what must hold when everybody has ended. It may take locks, and wait.
    public func finally(_ name: String, _ holds: @escaping @Sendable () throws -> Bool) {
        Unseen.begin()
        stage.lastConditions.append(.init(name: name, holds: holds))
        Unseen.end()
    }

    /// A point at which the turn may change, for code that has none of its own.
    public func step() {
        Unseen.begin()
        if let lane = stage.caller { stage.point(lane) }
        Unseen.end()
    }

    /// A point at which the others are to go first, for a loop that looks again and again.
    public func yield() {
        Unseen.begin()
        if let lane = stage.caller { stage.point(lane, yields: true) }
        Unseen.end()
    }
}
