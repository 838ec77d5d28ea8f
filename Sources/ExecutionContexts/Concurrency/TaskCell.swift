/// The cell of an `Async` whose value a task computes.
final class TaskCell<Value: Sendable>: AsyncCell, @unchecked Sendable {
    // Unchecked: the task is set before anything else knows of this, read while the cell is locked and pending, and released
    // by whoever ended it. The origin never changes.
    private let origin: Origin
    private var task: Task<Void, Never>?

    init(origin: Origin) {
        self.origin = origin
        super.init(tag: Self.holdsUntilEnd)
    }

    /// Starts the task; once, by the maker of this.
    func start(on executor: (any TaskExecutor)?, _ body: @escaping @Sendable () async throws -> Value) {
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
        // Handlers of cancellation run inside this call, and may cancel the next one.
        if let task { Delivery.call([{ task.cancel() }]) }
        return true
    }

    override func escalateTask(to priority: TaskPriority) { whilePending { task }?.raise(to: priority) }

    override func didEnd() { task = nil }

    override var label: String { "an async function at \(origin)" }
}
