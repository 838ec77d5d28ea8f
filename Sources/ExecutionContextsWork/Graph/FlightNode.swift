internal import ExecutionContexts

/// A work item in flight: its subscribers, and the events that they have received.
@usableFromInline
class FlightNode: WorkNode, @unchecked Sendable {
    // Unchecked like the base: accessed in graph jobs only, except for `pendingEvents` and
    // `isNotifyPending`, which are accessed inside the graph's `events`.
    //
    // Exclusivity is unchecked as in the base: removed values are moved out, and freed outside of
    // the access.
    /// Begins the work; nil from then on, so that the body lives only as long as it can be
    /// requested (law 10).
    @exclusivity(unchecked) private var target: WorkTarget?
    @exclusivity(unchecked) private var progress: WorkProgress?
    @exclusivity(unchecked) private var partial: Payload?
    /// Events that were reported and that the subscribers have not received.
    @exclusivity(unchecked) private var pendingEvents = EventQueue()
    @exclusivity(unchecked) private var isNotifyPending = false

    init(for target: WorkTarget) {
        unsafe self.target = target
        super.init(in: target.graph)
    }

    /// Removes this work, which has ended, from its target; in a graph job.
    func leaveEntry() { fatalError("A subclass of FlightNode overrides leaveEntry().") }

    final override func retire() {
        // The code that performs the work may retain its flight (law 10).
        let dropped = graph.events.execute { unsafe pendingEvents.takeAll() }
        withExtendedLifetime(dropped) {}
        unsafe progress = nil
        _ = unsafe partial.take()
        _ = unsafe target.take()
        leaveEntry()
    }

    /// Adds a subscriber, in a job of the graph. For the first one the next job begins the work.
    final func add(_ subscriber: Subscriber) {
        let isFirst = unsafe subscribers.isEmpty
        unsafe subscriber.join(self, as: subscribers.append(subscriber))
        subscribersChanged()
        // All earlier subscribers may have left while the end is pending. Then `begin` does
        // nothing.
        if isFirst { return graph.jobs.runAfterCurrent { self.begin() } }
        if let progress = unsafe progress { subscriber.notify(.progress(progress)) }
        if let partial = unsafe partial { subscriber.notify(.partial(partial)) }
    }

    private func begin() {
        // If the subscriber has left before this job, there is nothing to begin.
        guard isInFlight, let target = unsafe target.take() else { return }
        target.begin(self)
    }

    /// Ends the work, on any thread; false if its end has been decided before.
    @usableFromInline
    @discardableResult
    final func end(with event: NodeEvent) -> Bool {
        guard claimEnd() else { return false }
        // The subscribers are answered, also if the context drops the end.
        perform { refusal in self.notify(refusal.map { .failed($0) } ?? event) }
        return true
    }

    /// Queues an event on any thread. At most one job is submitted for all events that are queued
    /// until it runs (law 31).
    @usableFromInline
    final func post(_ event: NodeEvent) {
        let (old, isFirst) = graph.events.execute { () -> (NodeEvent?, Bool) in
            defer { unsafe isNotifyPending = true }
            return unsafe (pendingEvents.put(event), !isNotifyPending)
        }
        withExtendedLifetime(old) {}
        if isFirst { perform { self.notifyPending(areDropped: $0 != nil) } }
    }

    /// Notifies the subscribers of the queued events, which are lost if the context dropped this
    /// job.
    private func notifyPending(areDropped: Bool) {
        var events = graph.events.execute {
            unsafe isNotifyPending = false
            return unsafe pendingEvents.takeAll()
        }
        if areDropped { return withExtendedLifetime(events) {} }
        while let event = events.next() { notify(event) }
    }

    /// Notifies all current subscribers, in a job of the graph.
    final func notify(_ event: NodeEvent) {
        if unsafe hasEnded { return }
        switch event {
        case .progress(let progress): unsafe self.progress = progress
        case .partial(let payload):
            let old = unsafe partial.take()
            unsafe partial = payload
            withExtendedLifetime(old) {}
        case .succeeded, .failed: return finish(event)
        }
        for subscriber in unsafe subscribers.all { typed(subscriber).notify(event) }
    }

    /// Ends the work. Its entry is free before a subscriber is notified, so a later request begins
    /// new work (law 31).
    private func finish(_ event: NodeEvent) {
        end()
        for case let subscriber? in unsafe subscribers.removeAll() {
            typed(subscriber).notify(event)
            _ = subscriber.detach()
        }
    }

    private func typed(_ subscriber: Subscription) -> Subscriber {
        // Safe: only `add` appends to `subscribers`, and it takes this type only.
        unsafe unsafeDowncast(subscriber, to: Subscriber.self)
    }
}
