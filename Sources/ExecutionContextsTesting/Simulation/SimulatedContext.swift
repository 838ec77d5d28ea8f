public import ExecutionContexts

/// What all simulated contexts are made of.
struct SimulatedCore: Sendable {
    let line: JobLine
    let stage: Stage

    init(_ name: String, width: Int, _ stage: Stage) {
        Unseen.begin()
        self.stage = stage
        line = JobLine(stage.names.unique(name), width: width, on: stage)
        Unseen.end()
    }

    /// For the line that a stage has from its beginning.
    init(_ line: JobLine, _ stage: Stage) { (self.line, self.stage) = (line, stage) }

    func execute(_ work: @escaping Work, isBarrier: Bool = false) {
        Unseen.begin()
        defer { Unseen.end() }
        guard let lane = stage.callerOrReport(using: line.name) else { return }
        stage.point(lane)
        stage.chronicle?.add(lane, .submits(line.name))
        line.submit(.init(run: work, isBarrier: isBarrier, caller: nil, edge: .preceded()))
    }

    func sync<Value, Failure: Error>(
        isBarrier: Bool, _ body: () throws(Failure) -> Value
    ) throws(Failure) -> Value {
        Unseen.begin()
        let lane = stage.callerOrReport(using: line.name)
        Unseen.end()
        // A stranger has been reported, and cannot be made to wait for a turn.
        guard let lane else { return try body() }
        var result: Result<Value, Failure>?
        withoutActuallyEscaping({ result = Result(catching: body) }) { body in
            wait(lane, isBarrier, body)
        }
        return try result!.get()
    }

    private func wait(_ lane: Lane, _ isBarrier: Bool, _ body: @escaping () -> Void) {
        let end = Edge()
        var isOver = false
        Unseen.begin()
        stage.point(lane)
        let job = JobLine.Job(
            run: {
                body()
                end.precede()
                Unseen.begin()
                isOver = true
                stage.wake(lane)
                Unseen.end()
            }, isBarrier: isBarrier, caller: lane, edge: .preceded())
        line.submit(job)
        stage.block(lane, on: line) { isOver }
        Unseen.end()
        end.follow()
    }

    /// The innermost piece of this context's work that the caller runs, or waits inside of.
    var current: Lane.Running? {
        Unseen.begin()
        defer { Unseen.end() }
        var next = stage.caller
        while let lane = next {
            if let running = lane.running.last(where: { $0.line === line }) { return running }
            next = lane.running.last?.caller
        }
        return nil
    }
}

/// A serial context of a simulation: one piece at a time, in order, when the schedule says so.
public final class SimulatedSerialContext: ActorBackingContext, SynchronousBarrierContext {
    private let core: SimulatedCore

    init(_ name: String, _ stage: Stage) { core = SimulatedCore(name, width: 1, stage) }

    public func execute(_ work: @escaping Work) { core.execute(work) }

    /// Waits for `body` to run in its turn; from the context's own work it runs at once.
    public func sync<Value, Failure: Error>(_ body: () throws(Failure) -> Value) throws(Failure) -> Value {
        if isCurrent == true { return try body() }
        return try core.sync(isBarrier: false, body)
    }

    public var isCurrent: Bool? { core.current != nil }
    public var time: any TimeSource { core.stage.clock }
    public var name: String { core.line.name }
}

/// A concurrent context of a simulation, without barriers, as the global one.
public final class SimulatedGlobalContext: ExecutionContext {
    private let core: SimulatedCore

    init(_ stage: Stage) { core = SimulatedCore(stage.system, stage) }

    public func execute(_ work: @escaping Work) { core.execute(work) }

    public var isCurrent: Bool? { core.current != nil }
    public var time: any TimeSource { core.stage.clock }
    public var runsAnywhere: Bool { true }
    public var name: String { core.line.name }
}

/// A concurrent context of a simulation that keeps barriers.
public final class SimulatedBarrierContext: SynchronousBarrierContext {
    private let core: SimulatedCore

    init(_ name: String, _ stage: Stage) { core = SimulatedCore(name, width: 8, stage) }

    public func execute(_ work: @escaping Work) { core.execute(work) }

    public func executeBarrier(_ work: @escaping Work) { core.execute(work, isBarrier: true) }

    /// Waits for `body` to run beside other work; from the context's own work it runs at once.
    public func sync<Value, Failure: Error>(_ body: () throws(Failure) -> Value) throws(Failure) -> Value {
        if isCurrent == true { return try body() }
        return try core.sync(isBarrier: false, body)
    }

    /// Waits for `body` to run with nothing beside it; from within a barrier it runs at once.
    ///
    /// From within work that is no barrier it would wait for that work: the program stops with a sentence (law 3).
    public func syncBarrier<Value, Failure: Error>(_ body: () throws(Failure) -> Value) throws(Failure)
        -> Value
    {
        guard let current = core.current else { return try core.sync(isBarrier: true, body) }
        require(
            current.isExclusive,
            "A barrier on '\(name)' was waited for from within the context's own work, and would wait for "
                + "that work to end (law 3). Submit it with executeBarrier instead.")
        return try body()
    }

    public var isCurrent: Bool? { core.current != nil }
    public var time: any TimeSource { core.stage.clock }
    public var name: String { core.line.name }
}
