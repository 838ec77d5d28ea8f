internal import ExecutionContexts

/// The state of a semaphore behind its section.
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

    /// The calling task, of a semaphore with one permit; other semaphores do not look.
    private var task: UInt? {
        guard permits == 1 else { return nil }
        // An address, which is compared and never dereferenced.
        return unsafe Caller.task.map { UInt(bitPattern: $0) }
    }

    func tryEnter() -> Bool {
        let task = task
        return withState { $0.take(as: task) }
    }

    /// Suspends the calling task until it has a permit.
    nonisolated(nonsending) func enter() async throws {
        try Task.checkCancellation()
        let task = task
        if withState({ $0.take(as: task) }) { return }
        if task != nil, withState({ $0.owner == task }) { trapNested() }
        try await join().enter()
    }

    /// Takes a permit, or a position in the queue, for a task that will enter.
    func join() -> Place {
        let priority = WorkPriority(Task.currentPriority)
        return Place(
            core: self, waiter: withState { $0.take(as: nil) ? nil : $0.append(priority) })
    }

    func leave() { withState { $0.release() }?.perform() }

    private func trapNested() -> Never {
        stopMisuse(
            "A task that is inside '\(name)' asked for it again: the inner call would wait for the "
                + "outer one for ever (law 35). Call the inner part without it.")
    }

    /// A permit, or a position in the queue for one.
    struct Place: Sendable {
        fileprivate let core: SemaphoreCore
        fileprivate let waiter: SemaphoreState.Waiter?

        /// Suspends the calling task until it has the permit; throws if it is cancelled before.
        nonisolated(nonsending) func enter() async throws {
            if let waiter { try await wait(as: waiter) }
            if let task = core.task { core.withState { $0.owner = task } }
        }

        private nonisolated(nonsending) func wait(as waiter: SemaphoreState.Waiter) async throws {
            let core = core
            try await withEscalationHandler { priority in
                SimulationHooks.undivided {
                    core.withState { $0.raise(waiter, to: WorkPriority(priority)) }
                }
            } of: {
                try await waiter.wait(inside: core.section) {
                    core.withState { $0.cancel(waiter) }?.perform()
                }
            }
        }

        func leave() { core.leave() }
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
