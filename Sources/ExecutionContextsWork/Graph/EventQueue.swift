/// The events that wait for one receiver: at most one progress, one partial value and the end
/// (law 31).
///
/// A newer progress replaces the queued one, and so does a newer partial value. Events leave the
/// queue in the order in which they entered it, and the end leaves last. A slow receiver therefore
/// needs no more memory than a fast one.
struct EventQueue {
    private var progress: WorkProgress?
    private var partial: Payload?
    /// Whether the queued progress is newer than the queued partial value.
    private var isProgressNewer = false
    private var end: NodeEvent?

    var isEmpty: Bool { progress == nil && partial == nil && end == nil }

    /// Adds an event, and returns the one that it replaces, for the caller to free outside its lock
    /// (law 9).
    mutating func put(_ event: NodeEvent) -> NodeEvent? {
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
        case .succeeded, .failed:
            end = event
            return nil
        }
    }

    /// Removes and returns the oldest event; nil if the queue is empty.
    mutating func next() -> NodeEvent? {
        if let value = partial, progress == nil || isProgressNewer {
            partial = nil
            return .partial(value)
        }
        if let value = progress {
            progress = nil
            return .progress(value)
        }
        return end.take()
    }

    /// Removes and returns all events.
    mutating func takeAll() -> Self {
        defer { self = Self() }
        return self
    }

    /// Keeps the end and returns the other events, for the caller to free outside its lock.
    mutating func keepEnd() -> Self {
        var dropped = takeAll()
        end = dropped.end.take()
        return dropped
    }
}
