internal import ExecutionContexts

/// A subscription with its handler, which is called in the job that reports an event.
@usableFromInline
class Subscriber: Subscription, @unchecked Sendable {
    // Unchecked like the base: `handler` is accessed in graph jobs only.
    @usableFromInline
    typealias Handler = @Sendable (NodeEvent) -> Void

    // Exclusivity is unchecked as in the base: the handler is moved out, and freed outside of the
    // access.
    @exclusivity(unchecked) private var handler: Handler?

    init(_ priority: WorkPriority, _ jobs: ConfinedJobs, _ handler: @escaping Handler) {
        unsafe self.handler = handler
        super.init(priority, jobs)
    }

    /// Notifies the subscriber, unless it has left by then; in a graph job.
    func notify(_ event: NodeEvent) {
        if let handler = unsafe handler { deliver(event, to: handler) }
    }

    /// Calls the handler, unless the subscriber has left.
    final func deliver(_ event: NodeEvent, to handler: Handler) {
        guard event.isEnd ? claimDelivery() : isActive else { return }
        handler(event)
    }

    /// Ends a subscription that the graph's context has refused or dropped; in a graph job.
    final func refuse(_ refusal: Refusal) {
        notify(.failed(refusal))
        _ = detach()
    }

    override func detach() -> WorkNode? {
        _ = unsafe handler.take()
        return super.detach()
    }
}
