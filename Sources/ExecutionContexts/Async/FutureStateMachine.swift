/// What an `Async` knows besides its outcome, as a pure state machine.
///
/// A transition returns what the caller must do, and the caller does it after unlocking. So no
/// callback, no context and no `deinit` of a user's type runs under the lock (law 9).
///
/// | phase | transition | next phase | the caller must |
/// |---|---|---|---|
/// | pending | `complete()`, no subscriber | notified | do nothing |
/// | pending | `complete()`, a subscriber or first callback | notifying | notify all |
/// | pending, notifying | `addSubscriber(_:)` | the same | do nothing |
/// | notifying | `next()`, a subscriber is queued | notifying | notify that one |
/// | notifying | `next()`, the queue is empty | notified | do nothing |
/// | notified | `addSubscriber(_:)` | notifying | notify all |
package struct FutureStateMachine: ~Copyable {
    package enum Phase: UInt8 {
        /// It has not completed.
        case pending
        /// It has completed, and one thread notifies the subscribers, one after the other.
        case notifying
        /// It has completed, and no subscriber is queued.
        case notified
    }

    private var queue = SubscriberQueue()
    // Last, because the objects that contain this have room after it.
    package private(set) var phase = Phase.pending
    /// Whether there is a first callback; the owner of this stores it, outside of the queue.
    package private(set) var hasFirst = false
    /// Whether the queue may contain onlookers.
    private var hasOnlookers = false

    package init() {}

    /// Registers a callback; true if it is the first subscriber of all, which the caller then
    /// stores.
    package mutating func joinFirst() -> Bool {
        guard phase == .pending, !hasFirst, queue.isEmpty else { return false }
        hasFirst = true
        return true
    }

    /// Queues a subscriber; true if the caller must notify the queue.
    ///
    /// While another thread notifies, the subscriber is notified in order: order wins over
    /// immediacy (law 25).
    @inline(__always)
    package mutating func addSubscriber(_ subscriber: consuming FutureSubscriber) -> Bool {
        queue.append(subscriber)
        guard phase == .notified else { return false }
        phase = .notifying
        return true
    }

    /// Queues a subscriber that does not count as interest; true if the caller must notify the
    /// queue.
    package mutating func addOnlooker(_ onlooker: FutureSubscriber) -> Bool {
        hasOnlookers = true
        return addSubscriber(onlooker)
    }

    /// The result of `unsubscribe(_:)`.
    package enum Departure {
        /// The subscriber has been notified, or is about to be.
        case tooLate
        case left
        /// The subscriber left, and no interested subscriber remains.
        case leftUnwanted
    }

    package mutating func unsubscribe(_ subscriber: FutureSubscriber) -> Departure {
        guard queue.remove(subscriber) else { return .tooLate }
        return isUnwanted ? .leftUnwanted : .left
    }

    /// Whether it is pending and no interested subscriber is registered.
    package var isUnwanted: Bool {
        // Onlookers are rare, so they are not counted: the queue is searched if it may contain
        // some.
        phase == .pending && !hasFirst && (queue.isEmpty || hasOnlookers && queue.hasOnlyOnlookers)
    }

    /// Completes it; true if the caller must notify subscribers, the first callback first.
    @inline(__always)
    package mutating func complete() -> Bool {
        guard hasFirst || !queue.isEmpty else {
            phase = .notified
            return false
        }
        hasFirst = false
        phase = .notifying
        return true
    }

    /// Removes the subscriber to notify next; nil, and all are notified, if the queue is empty.
    package mutating func next() -> FutureSubscriber? {
        let subscriber = queue.removeFirst()
        if subscriber == nil { phase = .notified }
        return subscriber
    }

    /// Removes the only subscriber of a pending state, if `isRight` accepts it.
    mutating func removeOnly(where isRight: (FutureSubscriber) -> Bool) -> FutureSubscriber? {
        phase == .pending && !hasFirst ? queue.removeOnly(where: isRight) : nil
    }

    /// Informs all subscribers that the future state at this address, which owns this, is being
    /// freed.
    func sourceDeinitialized(_ source: UnsafeRawPointer) {
        unsafe queue.sourceDeinitialized(source)
    }

    /// Takes the queue out of a state that is being freed.
    mutating func takeQueue() -> SubscriberQueue {
        var taken = SubscriberQueue()
        swap(&queue, &taken)
        return taken
    }

    var isQueueEmpty: Bool { queue.isEmpty }

    /// Puts the first callback at the head of the queue, because notification is deferred.
    package mutating func putBack(_ first: consuming FutureSubscriber) { queue.prepend(first) }

    /// The queued subscribers, in order; without the first callback.
    package var subscribers: [FutureSubscriber] { queue.subscribers }

    /// Whether this subscriber is queued.
    func contains(_ subscriber: FutureSubscriber) -> Bool { queue.contains(subscriber) }
}
