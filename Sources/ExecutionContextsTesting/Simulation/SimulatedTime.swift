public import ExecutionContexts

/// The time of one schedule: it advances when no thread can run, or when the schedule decides so.
final class SimulatedTime: TimeSource, @unchecked Sendable {
    // Unchecked: the thread that owns the scheduler token owns this object.

    private struct Entry {
        let deadline: ContextInstant
        let delay: DelayedWork?
        let fire: () -> Void
        let edge: Edge
        let key: Int
        /// Whether `fire` only makes a task ready, which any thread may do.
        let isReady: Bool
        /// Its name if it is left over; nil for an entry that may be left.
        var name: (() -> String?)?
    }

    /// Weak, since a program may retain its time for longer than a schedule lasts. The weak
    /// reference slows down the link, not the scheduler.
    private weak var link: Link?
    private var scheduler: SimulationScheduler? { link?.scheduler }

    /// Refers to the scheduler, which retains the link.
    final class Link {
        // The scheduler retains the link. A caller of the link runs on a host, which retains the
        // scheduler.
        unowned let scheduler: SimulationScheduler
        init(_ scheduler: SimulationScheduler) { self.scheduler = scheduler }
    }
    /// By deadline, and by arrival where deadlines are equal.
    private var entries: ArraySlice<Entry> = []
    private var queue: SimulatedJobQueue?
    private var keys = 0

    init(_ link: Link) { self.link = link }

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
        scheduler.log?.add(.writes, .time)
        _ = insert(delay.deadline, delay, .released()) { delay.fire() }
    }

    func remove(_ delay: DelayedWork) {
        HiddenFromSanitizer.begin()
        var entry: Entry?
        if let scheduler, scheduler.callerOrReport(using: "the simulation's time") != nil {
            scheduler.log?.add(.writes, .time)
            let index = entries.firstIndex { $0.delay === delay }
            entry = index.map { entries.remove(at: $0) }
        }
        HiddenFromSanitizer.end()
        // Released here, with its captures, outside of the hidden section.
        _ = entry
    }

    /// Calls `fire` at the deadline, for an entry that is not a delay. The result cancels it.
    func add(at deadline: ContextInstant, isReady: Bool = false, _ fire: @escaping () -> Void)
        -> Int
    {
        insert(deadline, nil, .released(), isReady: isReady, fire)
    }

    /// The same for a named entry; the name is nil when it is no longer needed.
    func add(
        at deadline: ContextInstant, as name: @escaping () -> String?, _ fire: @escaping () -> Void
    ) -> Int {
        insert(deadline, nil, .released(), name: name, fire)
    }

    func remove(_ key: Int) { entries.removeAll { $0.key == key } }

    private func insert(
        _ deadline: ContextInstant, _ delay: DelayedWork?, _ edge: Edge, isReady: Bool = false,
        name: (() -> String?)? = nil, _ fire: @escaping () -> Void
    )
        -> Int
    {
        keys += 1
        var (index, end) = (entries.startIndex, entries.endIndex)
        while index < end {
            let middle = index + (end - index) / 2
            if entries[middle].deadline > deadline { end = middle } else { index = middle + 1 }
        }
        entries.insert(
            .init(
                deadline: deadline, delay: delay, fire: fire, edge: edge, key: keys,
                isReady: isReady, name: name), at: index)
        return keys
    }

    var nextDeadline: Int64? { entries.first?.deadline.nanoseconds }

    /// The entry that is due first, as text.
    var first: String? {
        entries.lazy.compactMap { entry -> String? in
            if entry.isReady { return nil }
            if let name = entry.name { return name() }
            return entry.delay?.knownSourceLocation.map { "A delay that was set at \($0)" }
                ?? "A sleep of a task"
        }.first
    }

    /// Makes due entries ready; the thread of the clock fires the delays.
    func fireDue(_ scheduler: SimulationScheduler) {
        while let entry = entries.first, entry.deadline.nanoseconds <= scheduler.now {
            entries = entries.dropFirst()
            if entry.isReady {
                entry.fire()
                continue
            }
            let queue =
                queue
                ?? SimulatedJobQueue(scheduler.names.unique("the clock"), width: 1, on: scheduler)
            self.queue = queue
            queue.submit(.init(run: entry.fire, isBarrier: false, caller: nil, edge: entry.edge))
        }
    }

    func close() { entries = [] }
}

/// A clock of simulated time, for tasks of the simulation that sleep.
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
        if let key, scheduler.callerOrReport(using: "the simulation's clock") != nil {
            scheduler.clock.remove(key)
        }
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
