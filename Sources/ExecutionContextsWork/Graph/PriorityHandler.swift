internal import ExecutionContexts

/// A handler of priority changes, with the priority that it last received.
final class PriorityHandler: @unchecked Sendable {
    // Unchecked: `lastPriority` is accessed in graph jobs only.
    private let body: @Sendable (WorkPriority) -> Void
    private var lastPriority: WorkPriority?

    init(_ body: @escaping @Sendable (WorkPriority) -> Void) { self.body = body }

    /// Calls the handler if the priority has changed.
    func notify(_ priority: WorkPriority) {
        if lastPriority == priority { return }
        lastPriority = priority
        body(priority)
    }
}
