/// The events that wait for one receiver: at most one progress, one partial value and the end (law
/// 31).
///
/// A newer progress replaces the one that waits, and so does a newer partial value. What is taken
/// out comes in the order in which it was put in, and the end comes last. So it takes the same
/// memory however slow the receiver is.
struct EventQueue<Value: Sendable> {
    private var progress: WorkProgress?
    private var partial: Value?
    /// Of the two that wait, whether the progress is the newer one.
    private var isProgressNewer = false
    private var outcome: Result<Value, any Error>?

    var isEmpty: Bool { progress == nil && partial == nil && outcome == nil }

    /// Adds an event, and returns the one that it replaces, which the caller frees outside of its
    /// lock (law 9).
    mutating func put(_ event: WorkEvent<Value>) -> WorkEvent<Value>? {
        switch event {
        case .progress(let new):
            progress = new
            isProgressNewer = true
            return nil
        case .partial(let new):
            let old = partial
            partial = new
            isProgressNewer = false
            return old.map { .partial($0) }
        case .finished(let new):
            outcome = new
            return nil
        }
    }

    /// Takes out the oldest event; nil if none waits.
    mutating func next() -> WorkEvent<Value>? {
        if let value = partial, progress == nil || isProgressNewer {
            partial = nil
            return .partial(value)
        }
        if let value = progress {
            progress = nil
            return .progress(value)
        }
        return outcome.take().map { .finished($0) }
    }

    /// Takes out all events.
    mutating func takeAll() -> Self {
        defer { self = Self() }
        return self
    }

    /// Drops what is not the end, and returns it for the caller to free outside of its lock; the
    /// end stays.
    mutating func keepEnd() -> Self {
        var dropped = takeAll()
        outcome = dropped.outcome.take()
        return dropped
    }
}
