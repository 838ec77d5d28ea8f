public import ExecutionContexts

/// Work that any number of subscribers share. It is part of a graph, and begins when the first one
/// subscribes.
///
/// It is a description and costs nothing until a caller subscribes. A subscription after its end
/// begins it anew.
public struct SharedWork<Value: Sendable>: Sendable {
    @usableFromInline let target: WorkTarget

    @usableFromInline
    init(target: WorkTarget) { self.target = target }

    /// The graph that the work is part of.
    public var graph: WorkGraph { target.graph }

    /// Calls `handler` on `context` with the events of the work, until its end or until the
    /// subscription is cancelled.
    ///
    /// The handler is called with one event at a time, in order, and with the end last, also on a
    /// concurrent context (law 31). While it is busy, at most one progress and one partial value
    /// are queued for it: a newer one replaces the queued one. The end is never dropped.
    ///
    /// A late subscriber receives the last progress and the last partial value at once, if there
    /// are any. On the graph's own context, or on one that the caller is already on, no submission
    /// is made (law 6). If the graph's context refuses or drops the subscription, or the end, the
    /// end is a refusal (law 31).
    @inlinable
    @discardableResult
    @_disfavoredOverload
    public func subscribe(
        priority: WorkPriority = .medium, on context: some ExecutionContext,
        fileID: StaticString = #fileID, line: UInt = #line,
        _ handler: @escaping @Sendable (WorkEvent<Value>) -> Void
    ) -> Subscription {
        subscribe(priority, on: context.inlineIfCurrent(), fileID: fileID, line: line) {
            handler(WorkEvent($0))
        }
    }

    /// Calls `handler` with the events of the work, on the graph's context, in the job that reports
    /// them.
    @inlinable
    @discardableResult
    public func subscribe(
        priority: WorkPriority = .medium, fileID: StaticString = #fileID, line: UInt = #line,
        _ handler: @escaping @Sendable (WorkEvent<Value>) -> Void
    ) -> Subscription {
        subscribe(priority, on: nil, fileID: fileID, line: line) { handler(WorkEvent($0)) }
    }

    /// Calls a closure of the main actor with the events of the work, on `main`.
    @discardableResult
    public func subscribe(
        priority: WorkPriority = .medium, on main: some MainActorContext,
        fileID: StaticString = #fileID, line: UInt = #line,
        _ handler: @escaping @MainActor @Sendable (WorkEvent<Value>) -> Void
    ) -> Subscription {
        subscribe(priority, on: main.inlineIfCurrent(), fileID: fileID, line: line) { event in
            MainActor.assumeIsolated { handler(WorkEvent(event)) }
        }
    }

    /// Returns the end of the work as a new `Async`; cancelling it unsubscribes.
    ///
    /// A task that awaits it uses `getOrCancel()`, to unsubscribe when the task is cancelled:
    /// `get()` cancels nothing (law 26).
    public func value(
        priority: WorkPriority = .medium, fileID: StaticString = #fileID, line: UInt = #line
    ) -> Async<Value> {
        let promise = Promise<Value>(fileID: fileID, line: line)
        let subscription = subscribe(priority, on: nil, fileID: fileID, line: line) { event in
            if let outcome = event.outcome(of: Value.self) { promise.complete(outcome) }
        }
        // Weak, since the subscription retains the promise.
        promise.onCancel { [weak subscription] in subscription?.cancel() }
        return promise.async
    }

    /// Calls `handler` with the events, whose values are of this type, as the public methods do.
    @usableFromInline
    func subscribe(
        _ priority: WorkPriority, on context: (any ExecutionContext)?,
        fileID: StaticString = "", line: UInt = 0,
        _ handler: @escaping Subscriber.Handler
    ) -> Subscription {
        let (target, jobs) = (target, target.graph.jobs)
        let subscriber =
            if let context {
                ContextSubscriber(
                    priority, jobs, on: context, target.graph.events, CodePlace(fileID, line),
                    handler)
            } else {
                Subscriber(priority, jobs, handler)
            }
        jobs.perform(.call(fileID, line), mayBeRefused: true) { refusal in
            if let refusal { return subscriber.refuse(refusal) }
            // A subscriber that has left before this job begins nothing.
            if subscriber.isActive { target.node().add(subscriber) }
        }
        return subscriber
    }
}
