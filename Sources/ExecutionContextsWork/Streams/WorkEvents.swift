public import ExecutionContexts

/// The events of shared work, as an async sequence; made by `SharedWork.events(priority:)`.
///
/// Each iteration is a separate subscription, which begins with the iterator. It ends with the
/// work, or leaves: when its task is cancelled while it waits, or when its iterator is released.
public struct WorkEvents<Value: Sendable>: AsyncSequence, Sendable {
    public typealias Element = WorkEvent<Value>
    public typealias Failure = Never

    let work: SharedWork<Value>
    let priority: WorkPriority

    public func makeAsyncIterator() -> Iterator {
        let core = WorkEventsCore()
        let subscription = work.subscribe(priority, on: nil) { core.put($0) }
        return Iterator(place: .init(core) { subscription.cancel() })
    }

    /// One subscriber of the work.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate let place: Place

        /// Leaves the work when the iterator is released before the end.
        fileprivate final class Place: Sendable {
            let core: WorkEventsCore
            private let unsubscribe: @Sendable () -> Void

            init(
                _ core: WorkEventsCore, unsubscribe: @escaping @Sendable () -> Void
            ) {
                self.core = core
                self.unsubscribe = unsubscribe
            }

            deinit { unsubscribe() }

            func leave() {
                core.leave()
                unsubscribe()
            }
        }

        /// Returns the next event; nil after the end, or if the task is cancelled.
        public mutating func next(
            isolation: isolated (any Actor)? = #isolation
        ) async -> WorkEvent<Value>? {
            let event = Task.isCancelled ? nil : await place.core.next()
            if event == nil { place.leave() }
            return event.map { WorkEvent($0) }
        }
    }
}

extension SharedWork {
    /// Returns the events of the work as an async sequence; each iteration subscribes.
    ///
    /// ```swift
    /// let sizes = SingleFlight<String, Int>(on: context) { path, flight in
    ///     flight.succeed(path.utf8.count)
    /// }
    /// for await event in sizes["wren"].events() { print(event) }
    /// ```
    ///
    /// While the consumer is busy, at most one progress and one partial value wait for it: a newer
    /// one replaces the waiting one. The end is never dropped, and is last (law 31).
    public func events(priority: WorkPriority = .medium) -> WorkEvents<Value> {
        WorkEvents(work: self, priority: priority)
    }
}

/// The events that wait for an iteration, or the task that waits for an event.
private final class WorkEventsCore: @unchecked Sendable {
    // Unchecked: mutable state is accessed inside `section` only.
    private let section = CriticalSection(name: "events")
    private var events = EventQueue()
    private var waiter: TaskWaiter?
    /// Whether the end was taken, or the consumer has left: no event follows.
    private var isOver = false

    func put(_ event: NodeEvent) {
        let (replaced, resumption) = section.execute {
            () -> (NodeEvent?, TaskWaiter.Resumption?) in
            if isOver { return (event, nil) }
            return (events.put(event), waiter.take()?.answer())
        }
        withExtendedLifetime(replaced) {}
        resumption?.perform()
    }

    /// Drops the waiting events, since the consumer has left.
    func leave() {
        let dropped = section.execute {
            isOver = true
            return events.takeAll()
        }
        withExtendedLifetime(dropped) {}
    }

    nonisolated(nonsending) func next() async -> NodeEvent? {
        while true {
            var waiter: TaskWaiter?
            let event = section.execute { () -> NodeEvent? in
                if isOver { return nil }
                let event = events.next()
                if event?.isEnd == true { isOver = true }
                if event == nil {
                    self.waiter = TaskWaiter()
                    waiter = self.waiter
                }
                return event
            }
            guard let waiter else { return event }
            await waiter.wait(inside: section) {
                section.execute { waiter.answer(CancellationError()) }?.perform()
            }
            if section.execute({ waiter.error }) != nil { return nil }
        }
    }
}
