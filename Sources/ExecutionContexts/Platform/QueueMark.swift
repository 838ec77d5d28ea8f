internal import CPlatform
internal import Dispatch

/// Lets a dispatch queue answer whether the caller runs on it, and who holds it.
///
/// Every marked queue carries a key of its own, so that work of a queue is recognised also on the
/// queues that target it. A key that is found is a certain yes; one that is missing may be hidden
/// by a nested `sync` to another queue, so the answer is then nil, never no (law 4).
final class QueueMark: Sendable {
    private let key = DispatchSpecificKey<Void>()
    let holding = Holding()
    let kind: Kind
    /// Whether the library has made the queue, and made it serial; of others nobody knows.
    let isSerial: Bool
    /// The queue that it was made to target, if the library has made it and knows one.
    let target: DispatchQueue?

    /// What its label tells of a queue.
    enum Kind { case own, main, global }

    /// The mark of a queue, put there at the first call; a queue has one, whoever asks.
    static func of(
        _ queue: DispatchQueue, isSerial: Bool = false, target: DispatchQueue? = nil
    ) -> QueueMark {
        if let known = queue.getSpecific(key: marks) { return known }
        // One lock for all queues: two first calls must agree on one mark, and each happens once a
        // queue. The system's queues outlive a schedule.
        return Seam.making {
            registry.withLock { _ in
                if let known = queue.getSpecific(key: marks) { return known }
                let fresh = QueueMark(kind: Kind(queue), isSerial: isSerial, target: target)
                queue.setSpecific(key: fresh.key, value: ())
                queue.setSpecific(key: marks, value: fresh)
                return fresh
            }
        }
    }

    private init(kind: Kind, isSerial: Bool, target: DispatchQueue?) {
        self.kind = kind
        self.isSerial = isSerial
        self.target = target
        // A queue of the library's is in use: from here on a forked child is known.
        ec_prepare()
    }

    /// The mark of the queue that the calling thread runs a block of, the innermost if several
    /// target each other.
    static var ofCaller: QueueMark? { DispatchQueue.getSpecific(key: marks) }

    /// Stands in frames for those who have the queue to themselves.
    var exclusive: Frame.Owner { unsafe Frame.owner(self) }
    /// Stands for those who read, by `sync`: an address that no other owner has, as the next one.
    var reading: Frame.Owner { unsafe Frame.owner(self) + 1 }
    /// Stands for those who run a job of the queue, whether or not they have it to themselves.
    var running: Frame.Owner { unsafe Frame.owner(self) + 2 }

    /// Whether the caller is on the queue, or another thread that waits for the caller is.
    var isOccupied: Bool {
        unsafe isCurrent == true || Frame.isCurrent(running) || Frame.isCurrent(exclusive)
    }

    var isCurrent: Bool? { DispatchQueue.getSpecific(key: key) != nil ? true : nil }

    private static let marks = DispatchSpecificKey<QueueMark>()
    private static let registry = Guarded(())
}

extension QueueMark.Kind {
    init(_ queue: DispatchQueue) {
        // The system's objects for one queue need not be identical on Linux; its labels are.
        let label = queue.label
        self = label == DispatchQueue.main.label ? .main : label.hasPrefix("com.apple.root.") ? .global : .own
    }
}
