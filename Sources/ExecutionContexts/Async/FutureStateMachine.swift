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

    private(set) var queue = SubscriberQueue()
    // Last, because the objects that contain this have room after it.
    package private(set) var phase = Phase.pending
    /// Whether there is a first callback; the owner of this stores it, outside of the queue.
    package private(set) var hasFirst = false
    /// Whether the queue may contain onlookers.
    private var hasOnlookers = false

    package init() {}

    /// Registers a callback; true if it is the first subscriber of all, which the caller stores.
    package mutating func joinFirst() -> Bool {
        guard phase == .pending, !hasFirst, queue.isEmpty else { return false }
        hasFirst = true
        return true
    }

    /// Queues a subscriber; true if the caller must notify the queue.
    ///
    /// While another thread notifies, order wins over immediacy (law 25).
    @inline(__always)
    package mutating func addSubscriber(_ subscriber: consuming FutureSubscriber) -> Bool {
        queue.append(subscriber)
        guard phase == .notified else { return false }
        phase = .notifying
        return true
    }

    /// Queues a subscriber that is no interest; true if the caller must notify the queue.
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
        // Onlookers are rare, so they are not counted, but searched if the queue may contain some.
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

    /// Takes the queue out of a state that is being freed.
    mutating func takeQueue() -> SubscriberQueue { exchange(&queue, with: SubscriberQueue()) }

    /// Puts the first callback at the head of the queue, because notification is deferred.
    package mutating func putBack(_ first: consuming FutureSubscriber) { queue.prepend(first) }

    /// The queued subscribers, in order; without the first callback.
    package var subscribers: [FutureSubscriber] { queue.subscribers }
}

/// What a future notifies: a callback, a derived `Async`, a waiting task or a waiting thread.
///
/// It is in the queue of one future state at a time, its source, and is notified at most once. A
/// subscriber that is no longer interested leaves the queue before that.
@usableFromInline
@safe package class FutureSubscriber: @unchecked Sendable {
    // Unchecked because it can be inherited from. The links are protected by the lock of the
    // source, which makes the run-time exclusivity checks superfluous.
    @exclusivity(unchecked) fileprivate final var next: Unmanaged<FutureSubscriber>?
    @exclusivity(unchecked) fileprivate final var previous: Unmanaged<FutureSubscriber>?
    @exclusivity(unchecked) fileprivate final var isQueued = false
    /// Whether its propagation may make it follow another state, as that of `flatMap` does.
    final let mayFollow: Bool
    /// Whether only the thread that runs its propagation, which owns this, refers to it.
    @exclusivity(unchecked) final var isUniquelyReferenced = false
    /// For a future state: whether its source was freed while pending. Protected by its own lock.
    @exclusivity(unchecked) final var sourceWasFreed = false

    /// Whether it is no interest in the outcome (law 26); set before it joins a queue.
    package final var isOnlooker = false

    @usableFromInline
    package init(mayFollow: Bool = false) { self.mayFollow = mayFollow }

    /// The source has completed and has removed this from its queue; called once, without any lock.
    @usableFromInline
    func notify(by source: FutureState) { fatalError("A subscriber overrides this.") }

    /// The source is being freed while pending: this will not be notified.
    ///
    /// Called in the `deinit` of the source, so no code of the user may be called or freed here.
    func sourceDeinitialized(_ source: UnsafeRawPointer) {}

    /// Identifies it to the thread that notifies it.
    final var address: UnsafeRawPointer {
        unsafe UnsafeRawPointer(Unmanaged.passUnretained(self).toOpaque())
    }

    /// What it is, in descriptions of what waits for what.
    var label: String { fatalError("A subscriber overrides this.") }
}

/// The subscribers of one future state, in the order of registration: an intrusive linked list.
///
/// The queue owns one reference to each: more counting would be half of the cost of notification.
@safe struct SubscriberQueue: ~Copyable {
    private var first: Unmanaged<FutureSubscriber>?
    private var last: Unmanaged<FutureSubscriber>?

    deinit {
        var next = unsafe first
        while let subscriber = unsafe next {
            unsafe next = subscriber._withUnsafeGuaranteedRef { subscriber in
                unsafe subscriber.isQueued = false
                unsafe subscriber.previous = nil
                return unsafe subscriber.next.take()
            }
            unsafe subscriber.release()
        }
    }

    /// Informs all subscribers that the future state at this address, which owns this, is freed.
    func sourceDeinitialized(_ source: UnsafeRawPointer) {
        _ = allSatisfy { subscriber in
            unsafe subscriber.sourceDeinitialized(source)
            return true
        }
    }

    /// Removes the only subscriber, if `isRight` accepts it.
    mutating func removeOnly(where isRight: (FutureSubscriber) -> Bool) -> FutureSubscriber? {
        guard let subscriber = unsafe first, unsafe subscriber.toOpaque() == last?.toOpaque(),
            unsafe subscriber._withUnsafeGuaranteedRef(isRight)
        else { return nil }
        return removeFirst()
    }

    var isEmpty: Bool { unsafe first == nil }

    mutating func append(_ subscriber: consuming FutureSubscriber) {
        let subscriber = unsafe Unmanaged.passRetained(subscriber)
        unsafe subscriber._withUnsafeGuaranteedRef {
            unsafe $0.isQueued = true
            unsafe $0.previous = last
        }
        if let last = unsafe last {
            unsafe last._withUnsafeGuaranteedRef { unsafe $0.next = subscriber }
        } else {
            unsafe first = subscriber
        }
        unsafe last = subscriber
    }

    /// Inserts a subscriber at the head.
    mutating func prepend(_ subscriber: consuming FutureSubscriber) {
        let subscriber = unsafe Unmanaged.passRetained(subscriber)
        unsafe subscriber._withUnsafeGuaranteedRef {
            unsafe $0.isQueued = true
            unsafe $0.next = first
        }
        if let first = unsafe first {
            unsafe first._withUnsafeGuaranteedRef { unsafe $0.previous = subscriber }
        } else {
            unsafe last = subscriber
        }
        unsafe first = subscriber
    }

    mutating func removeFirst() -> FutureSubscriber? {
        guard let subscriber = unsafe first else { return nil }
        unsafe subscriber._withUnsafeGuaranteedRef { unlink($0) }
        var owned = unsafe subscriber.takeRetainedValue()
        // Checked here, where the queue's reference is the only one that the library itself has.
        if owned.mayFollow {
            // Two statements: an assignment would retain the object before the check.
            let isAlone = isKnownUniquelyReferenced(&owned)
            unsafe owned.isUniquelyReferenced = isAlone
        }
        return owned
    }

    /// Removes a subscriber, to which the caller has a reference; false if it is not queued.
    mutating func remove(_ subscriber: FutureSubscriber) -> Bool {
        guard unsafe subscriber.isQueued else { return false }
        unlink(subscriber)
        unsafe Unmanaged.passUnretained(subscriber).release()
        return true
    }

    private mutating func unlink(_ subscriber: FutureSubscriber) {
        let (previous, next) = unsafe (subscriber.previous, subscriber.next)
        if let next = unsafe next {
            unsafe next._withUnsafeGuaranteedRef { unsafe $0.previous = previous }
        } else {
            unsafe last = previous
        }
        if let previous = unsafe previous {
            unsafe previous._withUnsafeGuaranteedRef { unsafe $0.next = next }
        } else {
            unsafe first = next
        }
        unsafe subscriber.next = nil
        unsafe subscriber.previous = nil
        unsafe subscriber.isQueued = false
    }

    /// Whether a subscriber, which is in no other queue, is in this one.
    func contains(_ subscriber: FutureSubscriber) -> Bool { unsafe subscriber.isQueued }

    /// Whether no subscriber counts as interest in the outcome.
    var hasOnlyOnlookers: Bool { allSatisfy(\.isOnlooker) }

    /// A copy of the queue as an array, for descriptions and tests.
    var subscribers: [FutureSubscriber] {
        var subscribers: [FutureSubscriber] = []
        _ = allSatisfy { subscriber in
            subscribers.append(subscriber)
            return true
        }
        return subscribers
    }

    /// Calls `body` with the subscribers, in order, until it returns false; true if it never did.
    private func allSatisfy(_ body: (FutureSubscriber) -> Bool) -> Bool {
        var next = unsafe first
        while let subscriber = unsafe next {
            let isRight = unsafe subscriber._withUnsafeGuaranteedRef {
                unsafe next = $0.next
                return body($0)
            }
            guard isRight else { return false }
        }
        return true
    }
}
