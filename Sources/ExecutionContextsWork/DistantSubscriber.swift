internal import ExecutionContexts
internal import Synchronization

/// A subscriber that is told on a context of its own: one event at a time, in order, whatever that
/// context is (law 31).
///
/// | step                | where            | what it does                                                        |
/// |---------------------|------------------|---------------------------------------------------------------------|
/// | 1. an event comes   | the graph's turn | puts it in the queue; starts a delivery if none is under way        |
/// | 2. a delivery comes | the context      | takes the whole queue, and calls the handler with each event        |
/// | 3. its end          | the context      | starts the next delivery if something has come meanwhile            |
///
/// At most one delivery is under way, so no two calls of the handler overlap and none comes before
/// an earlier one. What waits meanwhile is bounded by `EventQueue`. `section` orders the steps:
/// each takes it, and no handler runs in it (law 9).
final class DistantSubscriber<Value: Sendable>: Subscriber<Value>, @unchecked Sendable {
    // Unchecked: what changes is reached inside `section` only.
    private let context: any ExecutionContext
    private let section: CriticalSection
    private var handler: Handler?
    private var waiting = EventQueue<Value>()
    private var isDelivering = false
    /// Whether the end has been put in the queue; then the handler stays until it has been called
    /// with it.
    private var isEnding = false
    /// Whether the context has dropped a delivery of the end, which is tried once more.
    private var hasLostEnd = false

    init(
        _ priority: WorkPriority, _ turns: Turns, on context: any ExecutionContext,
        _ section: CriticalSection,
        _ handler: @escaping Handler
    ) {
        self.context = context
        self.section = section
        self.handler = handler
        super.init(priority, turns) { _ in }
    }

    override func tell(_ event: WorkEvent<Value>) {
        guard isActive else { return }
        let isEnd = event.outcome != nil
        let (old, starts) = section.execute { () -> (WorkEvent<Value>?, Bool) in
            let old = waiting.put(event)
            if isEnd { isEnding = true }
            defer { isDelivering = true }
            return (old, !isDelivering)
        }
        withExtendedLifetime(old) {}
        guard starts else { return }
        let delivery = Delivery(to: self)
        // What happened is not refused: where there is no room the delivery goes above the capacity.
        context.execute({ delivery.run() }, refused: { _ in if delivery.spend() { self.deliverLater() } })
    }

    /// Delivers what waits; on the context.
    private func arrive() {
        var (events, handler) = section.execute { (waiting.takeAll(), self.handler) }
        if let handler { while let event = events.next() { deliver(event, to: handler) } }
        let (goesOn, unneeded) = section.execute { () -> (Bool, Handler?) in
            isDelivering = !waiting.isEmpty
            let isOver = !isDelivering && isEnding || !isActive
            return (isDelivering, isOver ? self.handler.take() : nil)
        }
        withExtendedLifetime(unneeded) {}
        if goesOn { deliverLater() }
    }

    /// Behind the context's other jobs, which would wait for ever behind a fast reporter otherwise.
    private func deliverLater() {
        let delivery = Delivery(to: self)
        context.enqueue { delivery.run() }
    }

    /// The context has dropped a delivery: what it was to tell is gone, but for the end, which is
    /// tried once more.
    private func lose() {
        let (dropped, triesAgain) = section.execute { () -> (Any, Bool) in
            let events = waiting.keepEnd()
            isDelivering = !waiting.isEmpty && !hasLostEnd && isActive
            if isDelivering { hasLostEnd = true }
            let isOver = !isDelivering && (isEnding || !isActive)
            return ((events, isOver ? handler.take() : nil), isDelivering)
        }
        withExtendedLifetime(dropped) {}
        if triesAgain { deliverLater() }
    }

    override func part() -> WorkNode? {
        let dropped = section.execute { () -> Any? in
            // The end is on its way, unless the subscriber has left.
            if isEnding && isActive { return nil }
            return (waiting.takeAll(), handler.take())
        }
        withExtendedLifetime(dropped) {}
        return super.part()
    }

    /// What the context holds: if it is freed unused, the context has dropped the delivery.
    private final class Delivery: Sendable {
        private let subscriber: DistantSubscriber
        private let isSpent = Atomic<Bool>(false)

        init(to subscriber: DistantSubscriber) { self.subscriber = subscriber }

        deinit { if spend() { subscriber.lose() } }

        func run() { if spend() { subscriber.arrive() } }

        // Relaxed: what a delivery needs to see it sees by the section.
        func spend() -> Bool { !isSpent.exchange(true, ordering: .relaxed) }
    }
}
