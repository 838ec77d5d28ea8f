public import ExecutionContexts

/// A work that any number of subscribers share: a place in a graph, where it begins when the first
/// one comes.
///
/// It is a description and costs nothing until somebody subscribes. After its end it begins anew
/// for who asks again.
public struct SharedWork<Value: Sendable>: Sendable {
    let slot: WorkSlot<Value>

    /// The graph that it is part of.
    public var graph: WorkGraph { slot.graph }

    /// Tells `handler` what becomes of the work, on `context`, until its end or until the
    /// subscription is cancelled.
    ///
    /// The handler is called with one event at a time, in order, and the end last, on a concurrent
    /// context, too (law 31). While it is busy, at most one progress and one partial value wait for
    /// it: a newer one replaces the one that waits. The end is never dropped.
    ///
    /// A late subscriber is told the last progress and the last partial value at once, if there are
    /// any. On the graph's own context, or on one that the handler's caller is on already, no
    /// submission is made (law 6). If the graph's context refuses the subscription, the end is the
    /// refusal (law 1).
    @discardableResult
    @_disfavoredOverload
    public func subscribe(
        priority: WorkPriority = .medium, on context: some ExecutionContext,
        _ handler: @escaping @Sendable (WorkEvent<Value>) -> Void
    ) -> Subscription {
        subscribe(priority, on: context.inlineIfCurrent(), handler)
    }

    /// Tells `handler` what becomes of the work, on the graph's context, in the work's own turn.
    @discardableResult
    public func subscribe(
        priority: WorkPriority = .medium, _ handler: @escaping @Sendable (WorkEvent<Value>) -> Void
    ) -> Subscription {
        subscribe(priority, on: nil, handler)
    }

    /// Tells a closure of the main actor what becomes of the work, on the main queue.
    @discardableResult
    public func subscribe(
        priority: WorkPriority = .medium, on main: MainContext,
        _ handler: @escaping @MainActor @Sendable (WorkEvent<Value>) -> Void
    ) -> Subscription {
        subscribe(priority, on: main.inlineIfCurrent()) { event in MainActor.assumeIsolated { handler(event) }
        }
    }

    /// The work's end, as an `Async` of the caller's own; cancelling that leaves the work.
    ///
    /// A task that awaits it takes `getOrCancel()`, so that it leaves when it is cancelled: `get()` cancels nothing (law 26).
    public func value(
        priority: WorkPriority = .medium, fileID: StaticString = #fileID, line: UInt = #line
    ) -> Async<Value> {
        let promise = Promise<Value>(fileID: fileID, line: line)
        let subscription = subscribe(priority: priority) { event in
            if let outcome = event.outcome { promise.complete(outcome) }
        }
        // Not kept by what it would complete: a context that loses the question lets go of both
        // (law 1).
        promise.onCancel { [weak subscription] in subscription?.cancel() }
        return promise.async
    }

    private func subscribe(
        _ priority: WorkPriority, on place: (any ExecutionContext)?,
        _ handler: @escaping Subscriber<Value>.Handler
    ) -> Subscription {
        let (slot, turns) = (slot, slot.graph.turns)
        let subscriber =
            if let place {
                DistantSubscriber(priority, turns, on: place, slot.graph.events, handler)
            } else {
                Subscriber(priority, turns, handler)
            }
        turns.perform {
            // Who has left before its turn begins nothing.
            if subscriber.isActive { slot.node().add(subscriber) }
        } refused: { refusal in
            subscriber.tell(.finished(.failure(refusal)))
            _ = subscriber.part()
        }
        return subscriber
    }
}
