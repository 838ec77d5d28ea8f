public import ExecutionContexts

/// A work item in flight, as the code that performs it sees it: it reports progress and ends the
/// work.
///
/// A flight that is released before the work has ended fails the work with an error (law 26). Any
/// thread may use it. Calls from several threads take effect on the graph's context, one after
/// another. Where that context drops jobs, they take effect where it drops them, and the end is a
/// refusal (law 31).
public final class Flight<Value: Sendable>: Sendable {
    @usableFromInline let node: FlightNode

    @usableFromInline
    init(_ node: FlightNode) { self.node = node }

    deinit {
        if node.isInFlight { node.end(with: .failed(WorkError.dropped(node.name))) }
    }

    // MARK: - Progress

    /// Notifies the subscribers of progress.
    ///
    /// A newer progress replaces one that has not been delivered, so frequent calls are cheap
    /// (law 31).
    public func report(_ progress: WorkProgress) {
        if node.isInFlight { node.post(.progress(progress)) }
    }

    /// Notifies the subscribers of a partial value.
    ///
    /// A newer partial value replaces one that has not been delivered (law 31): each represents the
    /// whole value so far.
    @inlinable
    public func yield(_ value: Value) {
        if node.isInFlight { node.post(.partial(TypedPayload(value))) }
    }

    // MARK: - Completion

    /// Ends the work with a value; false if it had ended or been cancelled before, which changes
    /// nothing.
    @inlinable
    @discardableResult
    public func succeed(_ value: Value) -> Bool { node.end(with: .succeeded(TypedPayload(value))) }

    /// Ends the work with an error; false if it had ended or been cancelled before, which changes
    /// nothing.
    @discardableResult
    public func fail(_ error: any Error) -> Bool { node.end(with: .failed(error)) }

    /// Ends the work with an outcome; false if it had ended or been cancelled before, which changes
    /// nothing.
    @inlinable
    @discardableResult
    public func complete(_ outcome: Result<Value, any Error>) -> Bool {
        node.end(with: NodeEvent(ending: outcome))
    }

    /// Ends the work as `async` ends, and cancels `async` if the work ends first, however it ends.
    public func follow(_ async: Async<Value>) {
        // First, before another thread can report to this work: then the call takes no submission.
        onEnd { async.cancel() }
        // This closure retains the flight until `async` ends. The `onEnd` closure does not, since
        // it would retain the flight, and so itself.
        async.onComplete { outcome in _ = self.complete(outcome) }
    }

    // MARK: - Cancellation and priority

    /// Whether the work was cancelled because its last subscriber left. Never changes back to
    /// false.
    public var isCancelled: Bool { node.isCancelled }

    /// The highest priority of all current subscribers (law 32).
    public var priority: WorkPriority { node.priority }

    /// Runs `body` on the graph's context when the work is cancelled, at once if it has been; never
    /// after another end.
    public func onCancel(_ body: @escaping Work) {
        let node = self.node
        node.perform { _ in node.onCancel(body) }
    }

    /// Runs `body` on the graph's context when the work has ended, however it ends, at once if it
    /// has.
    ///
    /// Use it to stop operations that were started for the work.
    public func onEnd(_ body: @escaping Work) {
        let node = self.node
        node.perform { _ in node.onEnd(body) }
    }

    /// Runs `body` on the graph's context with the current priority, and again with each new one
    /// until the work ends.
    public func onPriority(_ body: @escaping @Sendable (WorkPriority) -> Void) {
        let node = self.node
        node.perform { _ in node.onPriority(body) }
    }
}
