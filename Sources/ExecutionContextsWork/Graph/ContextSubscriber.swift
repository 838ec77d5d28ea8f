internal import ExecutionContexts

/// A subscriber that is notified on its own context, one event at a time and in order, on any kind
/// of context (law 31).
///
/// | step                 | where       | what it does                                            |
/// |----------------------|-------------|---------------------------------------------------------|
/// | 1. an event arrives  | a graph job | queues it; starts a delivery if none is pending         |
/// | 2. the delivery runs | the context | takes the whole queue; calls the handler for each event |
/// | 3. the delivery ends | the context | starts the next delivery if events have arrived         |
///
/// At most one delivery is pending or running, so calls of the handler neither overlap nor reorder.
/// `EventQueue` bounds the events that wait meanwhile. `section` orders the steps: each step takes
/// it, and no handler runs inside it (law 9).
final class ContextSubscriber: Subscriber, @unchecked Sendable {
    // Unchecked: mutable state is accessed inside `section` only.
    private let context: any ExecutionContext
    private let section: CriticalSection
    /// Where the caller subscribed.
    private let source: JobSource
    private var handler: Handler?
    private var waiting = EventQueue()
    private var isDelivering = false
    /// Whether the end has been queued. From then on the handler stays until it has been called
    /// with the end.
    private var isEnding = false
    /// Whether the delivery of the end has been retried, which happens once, after the context
    /// dropped it.
    private var hasRetriedEnd = false

    init(
        _ priority: WorkPriority, _ jobs: ConfinedJobs, on context: any ExecutionContext,
        _ section: CriticalSection, _ place: CodePlace,
        _ handler: @escaping Handler
    ) {
        self.context = context
        self.section = section
        source = JobSource(place)
        self.handler = handler
        super.init(priority, jobs) { _ in }
    }

    override func notify(_ event: NodeEvent) {
        guard isActive else { return }
        let isEnd = event.isEnd
        let (old, starts) = section.execute { () -> (NodeEvent?, Bool) in
            let old = waiting.put(event)
            if isEnd { isEnding = true }
            defer { isDelivering = true }
            return (old, !isDelivering)
        }
        withExtendedLifetime(old) {}
        guard starts else { return }
        let delivery = CompletionGuard(DeliveryJob(subscriber: self))
        // An event that has occurred is not refused: a full context takes the delivery above its
        // capacity.
        context.execute(delivery.work, refused: { delivery.refuse($0) })
    }

    /// Delivers the queued events; on the context.
    private func deliverWaiting() {
        var (events, handler) = section.execute { (waiting.takeAll(), self.handler) }
        if let handler { while let event = events.next() { deliver(event, to: handler) } }
        let (continues, unneeded) = section.execute { () -> (Bool, Handler?) in
            isDelivering = !waiting.isEmpty
            let isOver = !isDelivering && isEnding || !isActive
            return (isDelivering, isOver ? self.handler.take() : nil)
        }
        withExtendedLifetime(unneeded) {}
        if continues { deliverLater() }
    }

    /// Schedules a delivery after the context's other jobs, which a fast reporter would otherwise
    /// starve.
    private func deliverLater() {
        context.enqueue(CompletionGuard.work(for: DeliveryJob(subscriber: self)))
    }

    /// Handles a delivery that the context dropped: discards its events, but retries the end once.
    private func deliveryDropped() {
        let (dropped, retries) = section.execute { () -> (Any, Bool) in
            let events = waiting.keepEnd()
            isDelivering = !waiting.isEmpty && !hasRetriedEnd && isActive
            if isDelivering { hasRetriedEnd = true }
            let isOver = !isDelivering && (isEnding || !isActive)
            return ((events, isOver ? handler.take() : nil), isDelivering)
        }
        withExtendedLifetime(dropped) {}
        if retries { deliverLater() }
    }

    override func detach() -> WorkNode? {
        let dropped = section.execute { () -> Any? in
            // The end is being delivered, unless the subscriber has left.
            if isEnding && isActive { return nil }
            return (waiting.takeAll(), handler.take())
        }
        withExtendedLifetime(dropped) {}
        return super.detach()
    }

    /// The job that delivers the queued events.
    private struct DeliveryJob: GuardedJob {
        let subscriber: ContextSubscriber

        var source: JobSource { subscriber.source }

        func run() { subscriber.deliverWaiting() }

        func refuse(_ refusal: Refusal) { subscriber.deliverLater() }

        func drop() { subscriber.deliveryDropped() }
    }
}
