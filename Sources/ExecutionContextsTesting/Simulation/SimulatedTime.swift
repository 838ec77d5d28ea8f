public import ExecutionContexts

/// The time of one schedule: it goes on when nobody else can, or when the schedule says so.
final class SimulatedTime: TimeSource, @unchecked Sendable {
    // Unchecked: it belongs to whoever has the turn.

    private struct Entry {
        let deadline: Moment
        let delay: DelayedWork?
        let fire: () -> Void
        let edge: Edge
        let key: Int
    }

    private weak var stage: Stage?
    /// In the order of deadlines, and of arrival where they are equal.
    private var entries: [Entry] = []
    private var line: JobLine?
    private var keys = 0

    init(_ stage: Stage) { self.stage = stage }

    var now: Moment {
        Unseen.begin()
        defer { Unseen.end() }
        return Moment(nanoseconds: stage?.now ?? 0)
    }

    func add(_ delay: DelayedWork, tolerance: Duration) {
        Unseen.begin()
        defer { Unseen.end() }
        guard let stage, let lane = stage.callerOrReport(using: "the simulation's time") else { return }
        stage.point(lane)
        _ = insert(delay.deadline, delay, .preceded()) { delay.fire() }
    }

    func remove(_ delay: DelayedWork) {
        Unseen.begin()
        let index = entries.firstIndex { $0.delay === delay }
        let entry = index.map { entries.remove(at: $0) }
        Unseen.end()
        // Freed here, captures and all.
        _ = entry
    }

    /// Has `fire` called when the time has come; for what is no delay. The result takes it back.
    func add(at deadline: Moment, _ fire: @escaping () -> Void) -> Int {
        insert(deadline, nil, .preceded(), fire)
    }

    func remove(_ key: Int) { entries.removeAll { $0.key == key } }

    private func insert(_ deadline: Moment, _ delay: DelayedWork?, _ edge: Edge, _ fire: @escaping () -> Void)
        -> Int
    {
        keys += 1
        let index = entries.firstIndex { $0.deadline > deadline } ?? entries.endIndex
        entries.insert(.init(deadline: deadline, delay: delay, fire: fire, edge: edge, key: keys), at: index)
        return keys
    }

    var nextDeadline: Int64? { entries.first?.deadline.nanoseconds }

    /// What is due first, in words.
    var first: String? {
        entries.first.map { entry in
            entry.delay.map { "A delay that was set at \($0.origin)" } ?? "A sleep of a task"
        }
    }

    /// Has the lane of the clock call what is due first.
    func fireNext() {
        guard let stage, !entries.isEmpty else { return }
        let line = line ?? JobLine(stage.names.unique("the clock"), width: 1, on: stage)
        self.line = line
        let entry = entries.removeFirst()
        line.submit(.init(run: entry.fire, isBarrier: false, caller: nil, edge: entry.edge))
    }

    func close() { entries = [] }
}

/// A clock that shows simulated time, for tasks of the simulation to sleep by.
public struct SimulatedClock: Clock {
    private let stage: Stage

    init(_ stage: Stage) { self.stage = stage }

    public var now: Moment { stage.clock.now }
    public var minimumResolution: Duration { .nanoseconds(1) }

    /// Sleeps until simulated time has come to `deadline`, or throws when the task is cancelled.
    public nonisolated(nonsending) func sleep(until deadline: Moment, tolerance: Duration? = nil) async throws
    {
        let sleep = Sleep(stage)
        try await withCancellationHandler {
            try await unsafe withUnsafeThrowingContinuation { unsafe sleep.begin($0, deadline) }
        } onCancel: {
            Seam.undivided { sleep.cancel() }
        }
    }
}

/// One sleep of a task: it is resumed once, by the clock or by who cancels.
private final class Sleep: Sendable {
    @safe private struct State {
        var continuation: UnsafeContinuation<Void, any Error>?
        var key: Int?
        var isCancelled = false
    }

    private let stage: Stage
    private let state = Locked(State())

    init(_ stage: Stage) { self.stage = stage }

    func begin(_ continuation: UnsafeContinuation<Void, any Error>, _ deadline: Moment) {
        let isCancelled = state.withLock { state in
            if !state.isCancelled { unsafe state.continuation = continuation }
            return state.isCancelled
        }
        if isCancelled { return unsafe continuation.resume(throwing: CancellationError()) }
        Unseen.begin()
        if stage.callerOrReport(using: "the simulation's clock") != nil {
            let key = stage.clock.add(at: deadline) { unsafe self.end { unsafe $0.resume() } }
            state.withLock { $0.key = key }
        }
        Unseen.end()
    }

    func cancel() {
        let key = state.withLock { state in
            state.isCancelled = true
            return state.key
        }
        Unseen.begin()
        if let key { stage.clock.remove(key) }
        Unseen.end()
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
