internal import ExecutionContexts

/// Somebody who is told how much a work is wanted, and what they have been told.
final class PriorityHandler: @unchecked Sendable {
    // Unchecked: `told` is touched on the graph's context only.
    private let body: @Sendable (WorkPriority) -> Void
    private var told: WorkPriority?

    init(_ body: @escaping @Sendable (WorkPriority) -> Void) { self.body = body }

    /// Tells a priority that is news.
    func tell(_ priority: WorkPriority) {
        if told == priority { return }
        told = priority
        body(priority)
    }
}
