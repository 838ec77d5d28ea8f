public import ExecutionContexts

/// The common part of all simulated contexts.
struct SimulatedCore: Sendable {
    let queue: SimulatedJobQueue
    let scheduler: SimulationScheduler

    init(_ name: String, width: Int, _ scheduler: SimulationScheduler) {
        HiddenFromSanitizer.begin()
        self.scheduler = scheduler
        queue = SimulatedJobQueue(scheduler.names.unique(name), width: width, on: scheduler)
        HiddenFromSanitizer.end()
    }

    /// For a queue that a schedule has from its beginning.
    init(_ queue: SimulatedJobQueue, _ scheduler: SimulationScheduler) {
        (self.queue, self.scheduler) = (queue, scheduler)
    }

    func execute(_ work: @escaping Work, isBarrier: Bool = false) {
        HiddenFromSanitizer.begin()
        defer { HiddenFromSanitizer.end() }
        guard let thread = scheduler.callerOrReport(using: queue.name) else { return }
        scheduler.point(thread)
        scheduler.trace?.add(thread, .submits(queue.name))
        let label = scheduler.trace == nil ? nil : JobSource(of: work).shownLabel
        queue.submit(
            .init(
                run: work, isBarrier: isBarrier, caller: nil, edge: .released(), label: label))
    }

    func sync<Value, Failure: Error>(
        isBarrier: Bool, _ body: () throws(Failure) -> Value
    ) throws(Failure) -> Value {
        HiddenFromSanitizer.begin()
        let thread = scheduler.callerOrReport(using: queue.name)
        HiddenFromSanitizer.end()
        // Its use by a foreign thread was reported; such a thread cannot wait in a simulated queue.
        guard let thread else { return try body() }
        var result: Result<Value, Failure>?
        withoutActuallyEscaping({ result = Result(catching: body) }) { body in
            wait(thread, isBarrier, body)
        }
        return try result!.get()
    }

    private func wait(_ thread: SimulatedThread, _ isBarrier: Bool, _ body: @escaping () -> Void) {
        let end = Edge()
        var isOver = false
        HiddenFromSanitizer.begin()
        scheduler.point(thread)
        let job = SimulatedJobQueue.Job(
            run: {
                body()
                end.release()
                HiddenFromSanitizer.begin()
                isOver = true
                scheduler.wake(thread)
                HiddenFromSanitizer.end()
            }, isBarrier: isBarrier, caller: thread, edge: .released())
        queue.submit(job)
        scheduler.block(thread, on: queue) { isOver }
        HiddenFromSanitizer.end()
        end.acquire()
    }

    /// The innermost job of this context that the caller runs or waits in.
    var current: SimulatedThread.Running? {
        HiddenFromSanitizer.begin()
        defer { HiddenFromSanitizer.end() }
        var next = scheduler.caller
        while let thread = next {
            if let running = thread.running.last(where: { $0.queue === queue }) { return running }
            next = thread.running.last?.caller
        }
        return nil
    }
}

/// A serial context of a simulation: one job at a time, in order, at times that the schedule
/// decides.
public final class SimulatedSerialContext: ActorBackingContext, SynchronousBarrierContext {
    let core: SimulatedCore

    init(_ name: String, _ scheduler: SimulationScheduler) {
        core = SimulatedCore(name, width: 1, scheduler)
    }

    init(_ queue: SimulatedJobQueue, _ scheduler: SimulationScheduler) {
        core = SimulatedCore(queue, scheduler)
    }

    public func execute(_ work: @escaping Work) { core.execute(work) }

    /// Waits for `body` to run in order; in a job of the context it runs at once.
    public func sync<Value, Failure: Error>(_ body: () throws(Failure) -> Value) throws(Failure)
        -> Value
    {
        if isCurrent == true { return try body() }
        return try core.sync(isBarrier: false, body)
    }

    public var isCurrent: Bool? { core.current != nil }
    public var time: any TimeSource { core.scheduler.clock }
    public var name: String { core.queue.name }
}

/// A concurrent context of a simulation, without barriers, like the global context.
public final class SimulatedGlobalContext: ExecutionContext {
    let core: SimulatedCore

    init(_ scheduler: SimulationScheduler) { core = SimulatedCore(scheduler.system, scheduler) }

    public func execute(_ work: @escaping Work) { core.execute(work) }

    public var isCurrent: Bool? { core.current != nil }
    public var time: any TimeSource { core.scheduler.clock }
    public var runsAnywhere: Bool { true }
    public var name: String { core.queue.name }
}

/// A concurrent context of a simulation that supports barriers.
public final class SimulatedBarrierContext: SynchronousBarrierContext {
    let core: SimulatedCore

    init(_ name: String, _ scheduler: SimulationScheduler) {
        core = SimulatedCore(name, width: 8, scheduler)
    }

    public func execute(_ work: @escaping Work) { core.execute(work) }

    public func executeBarrier(_ work: @escaping Work) { core.execute(work, isBarrier: true) }

    /// Waits for `body` to run beside other jobs; in a job of the context it runs at once.
    public func sync<Value, Failure: Error>(_ body: () throws(Failure) -> Value) throws(Failure)
        -> Value
    {
        if isCurrent == true { return try body() }
        return try core.sync(isBarrier: false, body)
    }

    /// Waits for `body` to run alone; inside a barrier it runs at once.
    ///
    /// Inside a job that is no barrier it would wait for that job, so it traps with a message
    /// (law 3).
    public func syncBarrier<Value, Failure: Error>(_ body: () throws(Failure) -> Value)
        throws(Failure)
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
    public var time: any TimeSource { core.scheduler.clock }
    public var name: String { core.queue.name }
}
