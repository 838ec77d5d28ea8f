internal import Dispatch

/// Lets a dispatch queue answer whether the caller runs on it.
///
/// Every marked queue carries a key of its own, so that work of a queue is recognised also on the queues
/// that target it. A key that is found is a certain yes; one that is missing may be hidden by a nested
/// `sync` to another queue, so the answer is then nil, never no (law 4).
struct QueueMark: Sendable {
    private let key: DispatchSpecificKey<Void>

    /// The mark of a queue, put there at the first call.
    init(_ queue: DispatchQueue) {
        // One lock for all queues: two first calls must agree on one key, and each happens once a queue.
        key = Self.registry.withLock { registry in
            if let known = queue.getSpecific(key: registry.marks) { return known }
            let fresh = DispatchSpecificKey<Void>()
            queue.setSpecific(key: fresh, value: ())
            queue.setSpecific(key: registry.marks, value: fresh)
            return fresh
        }
    }

    var isCurrent: Bool? { DispatchQueue.getSpecific(key: key) != nil ? true : nil }

    private struct Marks {
        let marks = DispatchSpecificKey<DispatchSpecificKey<Void>>()
    }

    private static let registry = Guarded(Marks())
}
