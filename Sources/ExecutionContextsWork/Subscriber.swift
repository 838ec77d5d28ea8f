internal import ExecutionContexts

/// A subscription with what its subscriber is told by, in the work's own turn.
class Subscriber<Value: Sendable>: Subscription, @unchecked Sendable {
    // Unchecked like the base: `handler` is touched on the graph's context only.
    typealias Handler = @Sendable (WorkEvent<Value>) -> Void

    private var handler: Handler?

    init(_ priority: WorkPriority, _ turns: Turns, _ handler: @escaping Handler) {
        self.handler = handler
        super.init(priority, turns)
    }

    /// Tells the subscriber, where it wants to be told, unless it has left by then; in a turn.
    func tell(_ event: WorkEvent<Value>) {
        if let handler { deliver(event, to: handler) }
    }

    /// Calls the handler, unless the subscriber has left.
    final func deliver(_ event: WorkEvent<Value>, to handler: Handler) {
        guard event.outcome == nil ? isActive : claimEnd() else { return }
        handler(event)
    }

    override func part() -> WorkNode? {
        handler = nil
        return super.part()
    }
}
