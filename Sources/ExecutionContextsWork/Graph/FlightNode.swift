internal import ExecutionContexts

/// A work item in flight: its subscribers, and the events that they have received.
final class FlightNode<Value: Sendable>: WorkNode, @unchecked Sendable {
    // Unchecked like the base: accessed on the graph's context only, except for `pendingEvents` and
    // `isNotifyPending`, which are accessed inside the graph's `events`.
    private let entry: WorkEntry<Value>
    /// What begins the work; nil from then on, so that the body lives only as long as it can be
    /// requested (law 10).
    private var target: WorkTarget<Value>?
    private var progress: WorkProgress?
    private var partial: Value?
    /// Events that were reported and that the subscribers have not received.
    private var pendingEvents = EventQueue<Value>()
    private var isNotifyPending = false

    init(for target: WorkTarget<Value>, at entry: WorkEntry<Value>) {
        self.target = target
        self.entry = entry
        super.init(in: target.graph)
    }

    override var name: String { entry.name }

    override func retire() {
        // The code that performs the work may keep its flight (law 10).
        let dropped = graph.events.execute { pendingEvents.takeAll() }
        withExtendedLifetime(dropped) {}
        (progress, partial, target) = (nil, nil, nil)
        entry.remove(self)
    }

    /// Adds a subscriber, in a job of the graph. For the first one the next job begins the work.
    func add(_ subscriber: Subscriber<Value>) {
        let isFirst = subscribers.isEmpty
        subscriber.join(self, as: subscribers.append(subscriber))
        subscribersChanged()
        // All earlier subscribers may have left while the end is pending. Then `begin` does
        // nothing.
        if isFirst { return graph.jobs.runAfterCurrent { self.begin() } }
        if let progress { subscriber.notify(.progress(progress)) }
        if let partial { subscriber.notify(.partial(partial)) }
    }

    private func begin() {
        // If the subscriber has left before this job, there is nothing to begin.
        guard isInFlight, let target = target.take() else { return }
        Deadline.without { target.begin(Flight(self)) }
    }

    /// Queues an event on any thread. At most one job is submitted for all events that are queued
    /// until it runs (law 31).
    func post(_ event: WorkEvent<Value>) {
        let (old, isFirst) = graph.events.execute { () -> (WorkEvent<Value>?, Bool) in
            defer { isNotifyPending = true }
            return (pendingEvents.put(event), !isNotifyPending)
        }
        withExtendedLifetime(old) {}
        if isFirst { perform { self.notifyPending() } }
    }

    private func notifyPending() {
        var events = graph.events.execute {
            isNotifyPending = false
            return pendingEvents.takeAll()
        }
        while let event = events.next() { notify(event) }
    }

    /// Notifies all current subscribers, in a job of the graph.
    func notify(_ event: WorkEvent<Value>) {
        if hasEnded { return }
        switch event {
        case .progress(let progress): self.progress = progress
        case .partial(let value): partial = value
        case .finished(let outcome): return finish(outcome)
        }
        for subscriber in subscribers.all { typed(subscriber).notify(event) }
    }

    /// Ends the work. Its entry is free before a subscriber is notified, so a later request begins
    /// new work (law 31).
    private func finish(_ outcome: Result<Value, any Error>) {
        end()
        for subscriber in subscribers.removeAll() {
            typed(subscriber).notify(.finished(outcome))
            _ = subscriber.detach()
        }
    }

    private func typed(_ subscriber: Subscription) -> Subscriber<Value> {
        // Safe: only `add` appends to `subscribers`, and it takes this type only.
        unsafe unsafeDowncast(subscriber, to: Subscriber<Value>.self)
    }
}
