internal import ExecutionContexts

/// The state of a semaphore behind its section.
@usableFromInline
final class SemaphoreCore: @unchecked Sendable {
    // Unchecked, also at run time: `state` and the waiters are accessed inside `section` only.
    private let permits: Int
    private let name: String
    private let section: CriticalSection
    @exclusivity(unchecked) private var state: SemaphoreState

    init(permits: Int, name: String) {
        self.permits = permits
        self.name = name
        section = CriticalSection(name: name)
        unsafe state = SemaphoreState(permits: permits)
    }

    @inline(__always)
    func withState<Result>(_ body: (inout SemaphoreState) -> Result) -> Result {
        section.execute { unsafe body(&state) }
    }

    var description: String {
        let (free, waiting) = withState { ($0.free, $0.waitingCount) }
        return "'\(name)', \(permits - free) of \(permits) permits taken, \(waiting) tasks wait"
    }

    /// The calling task, for a semaphore with one permit; other semaphores do not check it.
    private var task: UInt? {
        guard permits == 1 else { return nil }
        // An address, which is compared and never dereferenced.
        return unsafe Caller.task.map { UInt(bitPattern: $0) }
    }

    @usableFromInline
    func tryEnter() -> Bool {
        let task = task
        return withState { $0.take(as: task) }
    }

    /// Enters if a permit is free; else the caller waits for one with the result.
    ///
    /// Not async: a task that need not wait makes no async call.
    @usableFromInline
    func enter() throws -> SemaphoreWaiter? {
        let task = task
        let (isInside, isNested) = withState { state in
            let isInside = state.take(as: task)
            return (isInside, !isInside && task != nil && state.owner == task)
        }
        if !isInside {
            if Task.isCancelled { throw CancellationError() }
            if isNested { trapNested() }
            if let waiter = join() { return waiter }
            noteOwner()
        }
        // Checked here, too: the cancellation may have happened just before another task left.
        try leaveIfCancelled()
        return nil
    }

    /// Takes a permit, or a position in the queue, for a task that will enter.
    func join() -> SemaphoreWaiter? {
        let priority = WorkPriority(Task.currentPriority)
        return withState { $0.take(as: nil) ? nil : $0.append(priority) }
    }

    /// Records that the calling task holds the permit that was taken for it.
    func noteOwner() { if let task { withState { $0.owner = task } } }

    /// Suspends the calling task until it has the permit; throws if it is cancelled before.
    @usableFromInline
    nonisolated(nonsending) func wait(as waiter: SemaphoreWaiter) async throws {
        try await withEscalationHandler { priority in
            SimulationHooks.undivided {
                self.withState { $0.raise(waiter, to: WorkPriority(priority)) }
            }
        } of: {
            await waiter.wait(inside: section) { withState { $0.cancel(waiter) }?.perform() }
        }
        let task = task
        let error = withState { state in
            if let task, waiter.error == nil { state.owner = task }
            return waiter.error
        }
        if let error { throw error }
        // It may have been cancelled before it was suspended, and received the permit after that.
        try leaveIfCancelled()
    }

    /// Returns the permit of a calling task that is cancelled, and throws.
    private func leaveIfCancelled() throws {
        guard Task.isCancelled else { return }
        leave()
        throw CancellationError()
    }

    @usableFromInline
    func leave() { withState { $0.release() }?.perform() }

    private func trapNested() -> Never {
        stopMisuse(
            "A task that is inside '\(name)' requested it again: the inner call would wait for the "
                + "outer one forever (law 35). Call the inner part without it.")
    }
}

extension WorkPriority {
    /// The priority of a task's jobs beside each other.
    init(_ priority: TaskPriority) {
        self =
            switch priority {
            case ...TaskPriority.background: .lowest
            case ...TaskPriority.low: .low
            case ...TaskPriority.medium: .medium
            case ...TaskPriority.high: .high
            default: .highest
            }
    }
}
