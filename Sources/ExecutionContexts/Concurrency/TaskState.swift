/// The future state of a task.
final class TaskState<Value: Sendable>: FutureState, @unchecked Sendable {
    // Unchecked: the task is set before any other thread knows of this object, read while the state
    // is locked and pending, and released by the thread that ended it. The location never changes.
    private let location: CodeLocation
    private var task: Task<Void, Never>?

    init(location: CodeLocation) {
        self.location = location
        super.init(tag: Self.holdsUntilEnd)
    }

    /// Starts the task; called once, by the maker of this object.
    func start(
        on executor: (any TaskExecutor)?, _ body: @escaping @Sendable () async throws -> Value
    ) {
        let task = Task(executorPreference: executor) {
            do { _ = self.end(with: try await body()) } catch { _ = self.end(throwing: error) }
        }
        guard lockIfPending() else { return }
        self.task = task
        unlock()
    }

    override func cancel() -> Bool {
        let task = whilePending { self.task }
        guard giveUp(CancellationError()) else { return false }
        // Cancellation handlers run inside this call, and may cancel the next future.
        if let task { Trampoline.call([{ task.cancel() }]) }
        return true
    }

    override func escalateTask(to priority: TaskPriority) {
        whilePending { task }?.raise(to: priority)
    }

    override func didEnd() { task = nil }

    override var label: String { "an async function at \(location)" }
}
