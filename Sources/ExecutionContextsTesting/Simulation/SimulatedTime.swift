public import ExecutionContexts

/// The time of one schedule: it advances when no thread can run, or when the schedule says so.
final class SimulatedTime: TimeSource, @unchecked Sendable {
    // Unchecked: the thread that owns the scheduler token owns this object.

    private struct Entry {
        let deadline: ContextInstant
        let delay: DelayedWork?
        let fire: () -> Void
        let edge: Edge
        let key: Int
    }

    private weak var scheduler: SimulationScheduler?
    /// By deadline, and by arrival where deadlines are equal.
    private var entries: [Entry] = []
    private var queue: SimulatedJobQueue?
    private var keys = 0

    init(_ scheduler: SimulationScheduler) { self.scheduler = scheduler }

    var now: ContextInstant {
        HiddenFromSanitizer.begin()
        defer { HiddenFromSanitizer.end() }
        return ContextInstant(nanoseconds: scheduler?.now ?? 0)
    }

    func add(_ delay: DelayedWork, tolerance: Duration) {
        HiddenFromSanitizer.begin()
        defer { HiddenFromSanitizer.end() }
        guard let scheduler, let thread = scheduler.callerOrReport(using: "the simulation's time")
        else {
            return
        }
        scheduler.point(thread)
        _ = insert(delay.deadline, delay, .released()) { delay.fire() }
    }

    func remove(_ delay: DelayedWork) {
        HiddenFromSanitizer.begin()
        let index = entries.firstIndex { $0.delay === delay }
        let entry = index.map { entries.remove(at: $0) }
        HiddenFromSanitizer.end()
        // Released here, with its captures, outside of the hidden section.
        _ = entry
    }

    /// Calls `fire` at the deadline, for what is no delay. The result cancels it.
    func add(at deadline: ContextInstant, _ fire: @escaping () -> Void) -> Int {
        insert(deadline, nil, .released(), fire)
    }

    func remove(_ key: Int) { entries.removeAll { $0.key == key } }

    private func insert(
        _ deadline: ContextInstant, _ delay: DelayedWork?, _ edge: Edge,
        _ fire: @escaping () -> Void
    )
        -> Int
    {
        keys += 1
        let index = entries.firstIndex { $0.deadline > deadline } ?? entries.endIndex
        entries.insert(
            .init(deadline: deadline, delay: delay, fire: fire, edge: edge, key: keys), at: index)
        return keys
    }

    var nextDeadline: Int64? { entries.first?.deadline.nanoseconds }

    /// The entry that is due first, in words.
    var first: String? {
        entries.first.map { entry in
            entry.delay.map { "A delay that was set at \($0.sourceLocation)" }
                ?? "A sleep of a task"
        }
    }

    /// Makes the thread of the clock fire the entry that is due first.
    func fireNext() {
        guard let scheduler, !entries.isEmpty else { return }
        let queue =
            queue ?? SimulatedJobQueue(scheduler.names.unique("the clock"), width: 1, on: scheduler)
        self.queue = queue
        let entry = entries.removeFirst()
        queue.submit(.init(run: entry.fire, isBarrier: false, caller: nil, edge: entry.edge))
    }

    func close() { entries = [] }
}

/// A clock of simulated time, by which tasks of the simulation sleep.
public struct SimulatedClock: Clock {
    private let scheduler: SimulationScheduler

    init(_ scheduler: SimulationScheduler) { self.scheduler = scheduler }

    public var now: ContextInstant { scheduler.clock.now }
    public var minimumResolution: Duration { .nanoseconds(1) }

    /// Sleeps until simulated time has reached `deadline`, or throws when the task is cancelled.
    public nonisolated(nonsending) func sleep(
        until deadline: ContextInstant, tolerance: Duration? = nil
    )
        async throws
    {
        let sleep = Sleep(scheduler)
        try await withCancellationHandler {
            try await unsafe withUnsafeThrowingContinuation { unsafe sleep.begin($0, deadline) }
        } onCancel: {
            SimulationHooks.undivided { sleep.cancel() }
        }
    }
}

/// One sleep of a task: it is resumed once, by the clock or by cancellation.
private final class Sleep: Sendable {
    @safe private struct State {
        var continuation: UnsafeContinuation<Void, any Error>?
        var key: Int?
        var isCancelled = false
    }

    private let scheduler: SimulationScheduler
    private let state = Locked(State())

    init(_ scheduler: SimulationScheduler) { self.scheduler = scheduler }

    func begin(_ continuation: UnsafeContinuation<Void, any Error>, _ deadline: ContextInstant) {
        let isCancelled = state.withLock { state in
            if !state.isCancelled { unsafe state.continuation = continuation }
            return state.isCancelled
        }
        if isCancelled { return unsafe continuation.resume(throwing: CancellationError()) }
        HiddenFromSanitizer.begin()
        if scheduler.callerOrReport(using: "the simulation's clock") != nil {
            let key = scheduler.clock.add(at: deadline) { unsafe self.end { unsafe $0.resume() } }
            state.withLock { $0.key = key }
        }
        HiddenFromSanitizer.end()
    }

    func cancel() {
        let key = state.withLock { state in
            state.isCancelled = true
            return state.key
        }
        HiddenFromSanitizer.begin()
        if let key { scheduler.clock.remove(key) }
        HiddenFromSanitizer.end()
        unsafe end { unsafe $0.resume(throwing: CancellationError()) }
    }

    private func end(_ resume: (UnsafeContinuation<Void, any Error>) -> Void) {
        let continuation = unsafe state.withLock { state in
            defer { unsafe state.continuation = nil }
            return unsafe state.continuation
        }
        if let continuation = unsafe continuation { unsafe resume(continuation) }
    }
}
