public import ExecutionContexts

/// A work under way, as who does it sees it: whoever holds it says how it goes, and how it ends.
///
/// A flight that is let go of without an end ends with an error that says so (law 26). Any thread
/// may use it. What it is told by several threads takes effect on the graph's context, one after
/// the other.
public final class Flight<Value: Sendable>: Sendable {
    let node: FlightNode<Value>

    init(_ node: FlightNode<Value>) { self.node = node }

    deinit {
        if node.isGoing { Self.end(node, .failure(WorkError.dropped(node.name))) }
    }

    // MARK: - How it goes

    /// Tells the subscribers how far it has come.
    ///
    /// A progress that waits to be told is replaced by a newer one, so it may be called as often as
    /// one likes (law 31).
    public func report(_ progress: WorkProgress) { tell(.progress(progress)) }

    /// Tells the subscribers a value on the way to the last one.
    ///
    /// A partial value that waits to be told is replaced by a newer one (law 31): each stands for
    /// the whole so far.
    public func yield(_ value: Value) { tell(.partial(value)) }

    private func tell(_ event: WorkEvent<Value>) { if node.isGoing { node.announce(event) } }

    // MARK: - How it ends

    /// Ends it with a value; false if it had ended or been cancelled before, which changes nothing.
    @discardableResult
    public func succeed(_ value: Value) -> Bool { complete(.success(value)) }

    /// Ends it with an error; false if it had ended or been cancelled before, which changes
    /// nothing.
    @discardableResult
    public func fail(_ error: any Error) -> Bool { complete(.failure(error)) }

    /// Ends it with an outcome; false if it had ended or been cancelled before, which changes
    /// nothing.
    @discardableResult
    public func complete(_ outcome: Result<Value, any Error>) -> Bool { Self.end(node, outcome) }

    /// Ends it as `async` ends, and cancels that if the work ends first, in whichever way.
    public func follow(_ async: Async<Value>) {
        // First, while nothing can have been said of it elsewhere: then it takes no submission.
        onEnd { async.cancel() }
        // The flight is kept until then, and not by the handler above: that one would keep itself.
        async.onComplete { outcome in _ = self.complete(outcome) }
    }

    @discardableResult
    static func end(_ node: FlightNode<Value>, _ outcome: Result<Value, any Error>) -> Bool {
        guard node.claimEnd() else { return false }
        node.perform { node.tell(.finished(outcome)) }
        return true
    }

    // MARK: - What its subscribers want

    /// Whether nobody wants it any more. It never turns back.
    public var isCancelled: Bool { node.isCancelled }

    /// The highest priority at which anybody wants it now (law 32).
    public var priority: WorkPriority { node.priority }

    /// Runs `body` on the graph's context when nobody wants it any more, at once if that is so;
    /// never after another end.
    public func onCancel(_ body: @escaping Work) {
        let node = self.node
        node.perform { node.onCancel(body) }
    }

    /// Runs `body` on the graph's context when the work has ended, in whichever way, at once if it
    /// has: to stop what was started for it.
    public func onEnd(_ body: @escaping Work) {
        let node = self.node
        node.perform { node.onEnd(body) }
    }

    /// Runs `body` on the graph's context with the priority as it is, and with each new one as long
    /// as it lasts.
    public func onPriority(_ body: @escaping @Sendable (WorkPriority) -> Void) {
        let node = self.node
        node.perform { node.onPriority(body) }
    }
}
