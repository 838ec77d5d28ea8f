internal import ExecutionContexts

/// A subscription with what its subscriber is told by.
final class Subscriber<Value: Sendable>: Subscription, @unchecked Sendable {
    // Unchecked like the base: `handler` is touched on the graph's context only.
    typealias Handler = @Sendable (WorkEvent<Value>) -> Void

    private var handler: Handler?
    /// Where it is called; nil for on the spot, in the work's turn.
    private let place: (any ExecutionContext)?

    init(
        _ priority: WorkPriority, _ turns: Turns, on place: (any ExecutionContext)?,
        _ handler: @escaping Handler
    ) {
        self.place = place
        self.handler = handler
        super.init(priority, turns)
    }

    /// Tells the subscriber, where it wants to be told, unless it has left by then.
    func tell(_ event: WorkEvent<Value>) {
        guard isActive, let handler else { return }
        guard let place else { return deliver(event, to: handler) }
        place.execute { self.deliver(event, to: handler) }
    }

    private func deliver(_ event: WorkEvent<Value>, to handler: Handler) {
        guard event.outcome == nil ? isActive : claimEnd() else { return }
        handler(event)
    }

    override func part() -> WorkNode? {
        handler = nil
        return super.part()
    }
}
