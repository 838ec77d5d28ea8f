internal import CPlatform
internal import Dispatch

/// Identifies a dispatch queue: whether the caller runs on it, and which caller holds it
/// exclusively.
///
/// Every marked queue carries a key of its own, so that a job of a queue is recognised also on the
/// queues that target it. A key that is found is a yes. A missing key may be hidden by a nested
/// `sync` to another queue, so the answer is then nil, never no (law 4).
final class QueueMark: Sendable {
    private let key = DispatchSpecificKey<Void>()
    let exclusiveOwner = ExclusiveOwner()
    let kind: Kind
    /// Whether the library has made the queue, and made it serial; false if it is unknown.
    let isSerial: Bool
    /// The target that the library has given the queue, if it made the queue with one.
    let target: DispatchQueue?

    /// What the label of a queue says.
    enum Kind {
        case own, main, global

        init(_ queue: DispatchQueue) {
            // On Linux the system's objects for one queue need not be identical; its labels are.
            let label = queue.label
            self =
                label == DispatchQueue.main.label
                ? .main : label.hasPrefix("com.apple.root.") ? .global : .own
        }
    }

    /// The mark of a queue, attached at the first call; all callers get the same one.
    static func of(
        _ queue: DispatchQueue, isSerial: Bool = false, target: DispatchQueue? = nil
    ) -> QueueMark {
        if let known = queue.getSpecific(key: marks) { return known }
        // One lock for all queues: two first calls must agree on one mark, and each happens once
        // per queue. The system's queues outlive a schedule.
        return SimulationHooks.making {
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
        // The library begins to use a queue: from here on a fork must be noticed.
        ec_prepare()
    }

    /// The mark of the queue whose block the calling thread runs; the innermost if several target
    /// each other.
    static var ofCaller: QueueMark? { DispatchQueue.getSpecific(key: marks) }

    /// The frame owner of callers that have the queue to themselves.
    var exclusive: Frame.Owner { unsafe Frame.owner(self) }
    /// The frame owner of callers that share the queue by `sync`. No other owner has this address
    /// or the next one.
    var shared: Frame.Owner { unsafe Frame.owner(self) + 1 }
    /// The frame owner of jobs of the queue, whether or not they have it to themselves.
    var running: Frame.Owner { unsafe Frame.owner(self) + 2 }

    /// Whether the caller is on the queue, or another thread that waits for the caller is.
    var isOccupied: Bool {
        unsafe isCurrent == true || Frame.isCurrent(running) || Frame.isCurrent(exclusive)
    }

    var isCurrent: Bool? { DispatchQueue.getSpecific(key: key) != nil ? true : nil }

    /// The mark of the main queue.
    static let main = SimulationHooks.making { QueueMark.of(.main) }

    /// Whether the caller is known to be on the main queue or the main thread.
    static var isCallerOnMain: Bool {
        // While the main queue belongs to the main thread, code on that thread has it exclusively.
        // After the queue has been handed to the system, that thread frees its values, and still
        // has the key.
        let own = unsafe Threads.own
        return unsafe own.pointee.is_main || main.isCurrent == true && !own.pointee.was_main
    }

    private static let marks = DispatchSpecificKey<QueueMark>()
    private static let registry = Guarded(())
}
