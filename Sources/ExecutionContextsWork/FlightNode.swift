internal import ExecutionContexts

/// A work under way: its subscribers, and what they have been told.
final class FlightNode<Value: Sendable>: WorkNode, @unchecked Sendable {
    // Unchecked like the base: touched on the graph's context only, but for `arrived`, which is
    // reached inside the graph's `events`.
    private let place: WorkPlace<Value>
    /// What begins it; nil from then on, so that the body lives no longer than those who can ask
    /// for it (law 10).
    private var slot: WorkSlot<Value>?
    private var progress: WorkProgress?
    private var partial: Value?
    /// What was said of it and has not had its turn.
    private var arrived = EventQueue<Value>()
    private var hasTurn = false

    init(for slot: WorkSlot<Value>, at place: WorkPlace<Value>) {
        self.slot = slot
        self.place = place
        super.init(in: slot.graph)
    }

    override var name: String { place.name }

    override func retire() {
        // Whoever does the work may keep its flight (law 10).
        let dropped = graph.events.execute { arrived.takeAll() }
        withExtendedLifetime(dropped) {}
        (progress, partial, slot) = (nil, nil, nil)
        place.vacate(self)
    }

    /// Adds a subscriber, in a turn; the first one's turn is followed by the one in which the work
    /// begins.
    func add(_ subscriber: Subscriber<Value>) {
        let isFirst = subscribers.isEmpty
        subscriber.join(self, as: subscribers.append(subscriber))
        wantsChanged()
        // Or all have left while the end is under way: then there is nothing to begin.
        if isFirst { return graph.turns.next { self.begin() } }
        if let progress { subscriber.tell(.progress(progress)) }
        if let partial { subscriber.tell(.partial(partial)) }
    }

    private func begin() {
        // A subscriber that leaves before this turn leaves nothing to begin.
        if isGoing, let slot = slot.take() { slot.begin(Flight(self)) }
    }

    /// Says a thing of it on any thread: one turn is asked for, however much is said until it comes
    /// (law 31).
    func announce(_ event: WorkEvent<Value>) {
        let (old, isFirst) = graph.events.execute { () -> (WorkEvent<Value>?, Bool) in
            defer { hasTurn = true }
            return (arrived.put(event), !hasTurn)
        }
        withExtendedLifetime(old) {}
        if isFirst { perform { self.tellArrived() } }
    }

    private func tellArrived() {
        var events = graph.events.execute {
            hasTurn = false
            return arrived.takeAll()
        }
        while let event = events.next() { tell(event) }
    }

    /// Tells all who want it now, in a turn.
    func tell(_ event: WorkEvent<Value>) {
        if hasEnded { return }
        switch event {
        case .progress(let progress): self.progress = progress
        case .partial(let value): partial = value
        case .finished(let outcome): return finish(outcome)
        }
        for subscriber in subscribers.all { typed(subscriber).tell(event) }
    }

    /// Whoever asks from now on asks anew: the place is vacant before anybody is told (law 31).
    private func finish(_ outcome: Result<Value, any Error>) {
        end()
        for subscriber in subscribers.removeAll() {
            typed(subscriber).tell(.finished(outcome))
            _ = subscriber.part()
        }
    }

    private func typed(_ subscriber: Subscription) -> Subscriber<Value> {
        // Only `add` adds to the line, and it takes no others.
        unsafe unsafeDowncast(subscriber, to: Subscriber<Value>.self)
    }
}
