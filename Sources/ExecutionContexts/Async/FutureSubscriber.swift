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
    /// Whether only the thread that runs its propagation refers to it; owned by that thread.
    ///
    /// See `FutureState.follow`.
    @exclusivity(unchecked) final var isUniquelyReferenced = false
    /// For a future state: whether its source was freed while pending. Protected by its own lock.
    @exclusivity(unchecked) final var sourceWasFreed = false

    /// Whether it is notified without counting as interest in the outcome (law 26).
    ///
    /// Set by its maker, before it joins a queue.
    package final var isOnlooker = false

    @usableFromInline
    package init() { mayFollow = false }

    init(mayFollow: Bool) { self.mayFollow = mayFollow }

    /// Reads the outcome of the source, which has completed and has removed this from its queue.
    ///
    /// Called once, and without any lock.
    @usableFromInline
    func notify(by source: FutureState) { fatalError("A subscriber overrides this.") }

    /// Handles that the source is being freed while pending: this will not be notified.
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
/// The queue owns one reference to each. More counting at every link would be half of the cost of
/// notification.
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

    /// Informs all subscribers that the future state at this address, which owns this, is being
    /// freed.
    func sourceDeinitialized(_ source: UnsafeRawPointer) {
        var next = unsafe first
        while let subscriber = unsafe next {
            unsafe subscriber._withUnsafeGuaranteedRef { subscriber in
                unsafe subscriber.sourceDeinitialized(source)
                unsafe next = subscriber.next
            }
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

    /// Removes a subscriber from anywhere in the queue; false if it is not queued.
    ///
    /// The caller holds a reference to the subscriber, so nothing is freed here.
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
    var hasOnlyOnlookers: Bool {
        var next = unsafe first
        while let subscriber = unsafe next {
            let isOnlooker = unsafe subscriber._withUnsafeGuaranteedRef {
                unsafe next = $0.next
                return $0.isOnlooker
            }
            guard isOnlooker else { return false }
        }
        return true
    }

    /// A copy of the queue as an array, for descriptions and tests.
    var subscribers: [FutureSubscriber] {
        var subscribers: [FutureSubscriber] = []
        var next = unsafe first
        while let subscriber = unsafe next {
            unsafe subscriber._withUnsafeGuaranteedRef {
                subscribers.append($0)
                unsafe next = $0.next
            }
        }
        return subscribers
    }
}

/// What learns how each of several sources ends: a combinator, or a traversal.
protocol SourceObserver: Sendable {
    func sourceCompleted(_ source: FutureState, at index: Int)

    /// Drops the subscriber of a source that is freed while pending: it and the observer must not
    /// keep each other.
    func forgetSource(at index: Int)

    var label: String { get }
}

/// The subscriber in the queue of one of several sources.
final class SourceSubscriber<Observer: SourceObserver>: FutureSubscriber, @unchecked Sendable {
    // Unchecked: only the weak reference changes, and the runtime does that.
    private let observer: Observer
    /// Weak, because the source's queue owns this.
    private(set) weak var source: FutureState?
    let index: Int

    init(of observer: Observer, in source: FutureState, at index: Int) {
        self.observer = observer
        self.source = source
        self.index = index
        super.init()
    }

    /// What the observer waits for, unless the source has been freed.
    var dependency: FutureState.Dependency? {
        source.map { FutureState.Dependency(subscriber: self, source: $0) }
    }

    override func notify(by source: FutureState) { observer.sourceCompleted(source, at: index) }

    override func sourceDeinitialized(_ source: UnsafeRawPointer) {
        observer.forgetSource(at: index)
    }

    override var label: String { observer.label }
}
