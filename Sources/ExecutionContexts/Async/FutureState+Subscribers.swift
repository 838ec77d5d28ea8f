internal import CPlatform
internal import Synchronization

/// The subscribers of a future state, and how they are notified.
extension FutureState {
    /// Adds a subscriber; notifies it if this has completed and no other thread is notifying.
    @usableFromInline
    final func addSubscriber(_ subscriber: consuming FutureSubscriber) {
        lock.lock()
        let mustNotify = unsafe machine.addSubscriber(subscriber)
        if mustNotify { show() }
        let mustBegin = mustBegin()
        lock.unlock()
        if mustNotify { BoundedNesting.notify(by: self) }
        if mustBegin { BoundedNesting.begin(self) }
    }

    /// Whether a lazy state must begin, which is so once; under the lock.
    ///
    /// The tag changes while it is pending only: the thread that completed it reads the tag without
    /// the lock.
    private final func mustBegin() -> Bool {
        guard unsafe tag & Self.beginsWithInterest != 0, unsafe machine.phase == .pending else {
            return false
        }
        unsafe tag &= ~Self.beginsWithInterest
        return true
    }

    /// Begins a lazy state whose first subscriber is about to arrive.
    final func beginIfLazy() {
        guard lockIfPending() else { return }
        let mustBegin = mustBegin()
        unlock()
        if mustBegin { BoundedNesting.begin(self) }
    }

    /// Adds a subscriber that is notified in order, and does not count as interest (law 26).
    final func addOnlooker(_ onlooker: FutureSubscriber) {
        lock.lock()
        let mustNotify = unsafe machine.addOnlooker(onlooker)
        if mustNotify { show() }
        lock.unlock()
        if mustNotify { BoundedNesting.notify(by: self) }
    }

    /// Adds a follower that other threads refer to, unless the follower has completed.
    ///
    /// A completed follower would stay in the queue: no thread would remove it. Once the follower
    /// is in, this does not access it: it may have been notified, and be in another queue by then.
    final func addFollower(_ follower: FutureState) {
        lock.lock()
        // The thread that completed the follower has looked for it here already, or will find it.
        guard follower.isPending else {
            lock.unlock()
            follower.freePropagation()
            return cancelIfUnwanted()
        }
        let mustNotify = unsafe machine.addSubscriber(follower)
        if mustNotify { show() }
        let mustBegin = mustBegin()
        lock.unlock()
        if mustNotify { BoundedNesting.notify(by: self) }
        if mustBegin { BoundedNesting.begin(self) }
    }

    /// Adds a callback without a context hop; the first subscriber of all needs no allocation.
    @usableFromInline
    final func addSubscriber(_ body: @escaping Callback.Body) {
        lock.lock()
        let isFirst = unsafe machine.joinFirst()
        if isFirst {
            unsafe write(Callback.Boxed(body: body))
            unsafe type = Callback.Boxed.self
        }
        let mustBegin = isFirst && mustBegin()
        lock.unlock()
        if !isFirst { addSubscriber(Callback(body)) }
        if mustBegin { BoundedNesting.begin(self) }
    }

    /// Removes a subscriber; when the last interested one leaves, cancels this state (law 26).
    ///
    /// False if the subscriber has been notified or is being notified.
    @discardableResult
    final func unsubscribe(_ subscriber: FutureSubscriber, cancelsIfLast: Bool = true) -> Bool {
        lock.lock()
        let departure = unsafe machine.unsubscribe(subscriber)
        lock.unlock()
        if departure == .leftUnwanted, cancelsIfLast, cancelsWhenUnwanted {
            BoundedNesting.cancel(self)
        }
        return departure != .tooLate
    }

    /// Cancels it if no subscriber is interested; called in place of an `addSubscriber`.
    final func cancelIfUnwanted() {
        lock.lock()
        let isUnwanted = unsafe machine.isUnwanted
        lock.unlock()
        if isUnwanted, cancelsWhenUnwanted { BoundedNesting.cancel(self) }
    }

    /// Notifies the subscribers in order; called by the thread that entered the phase `notifying`.
    ///
    /// None of them sees the deadline of that thread, which is the completing caller's (law 38).
    final func notifyAll(_ first: consuming Callback.Body?) {
        if Deadline.isSet {
            if let first { putBack(first) }
            return Deadline.without { notifyAll(nil) }
        }
        let outer = unsafe ec_tail_callee()
        callFirst(consume first)
        var tail = notifyQueue()
        // A chain is notified link by link in this loop, and does not nest.
        while let state = tail { tail = state.notifyQueue() }
        unsafe ec_set_tail_callee(outer)
    }

    /// Calls the first callback.
    ///
    /// A function of its own: the loop of `notifyQueue` would retain once more per link if it also
    /// held a callback that is consumed.
    @inline(never)
    private final func callFirst(_ first: consuming Callback.Body?) {
        guard let first else { return }
        unsafe Frame.enter(identity) { first(self) }
    }

    /// Notifies the queue in order; returns the last state if that must notify its own queue next.
    ///
    /// The thread's tail is the subscriber that is being notified. It is set here before each
    /// notification. A subscriber that completes in its notification clears it in `becomesTail`,
    /// and leaves its own queue to this loop. `notifyAll` restores the tail of an outer loop.
    fileprivate final func notifyQueue() -> FutureState? {
        var tail: FutureState?
        unsafe Frame.enter(identity) {
            while let subscriber = next() {
                // It was not the last: its own queue goes before the subscribers that came later.
                if let state = tail.take() { BoundedNesting.notify(by: state) }
                unsafe ec_set_tail_callee(subscriber.address)
                subscriber.notify(by: self)
                if unsafe ec_tail_callee() == nil {
                    tail = unsafe unsafeDowncast(subscriber, to: FutureState.self)
                }
            }
        }
        return tail
    }

    /// Leaves notification to the loop on this thread that notifies this; false if there is none.
    final func becomesTail() -> Bool {
        guard unsafe ec_tail_callee() == address else { return false }
        ec_set_tail_callee(nil)
        return true
    }

    fileprivate final func next() -> FutureSubscriber? {
        lock.lock()
        defer { lock.unlock() }
        let subscriber = unsafe machine.next()
        if subscriber == nil { show() }
        return subscriber
    }

    /// Puts the first callback into the queue, because notification is deferred.
    final func putBack(_ first: @escaping Callback.Body) {
        let callback = Callback(first)
        lock.lock()
        unsafe machine.putBack(callback)
        lock.unlock()
    }

    /// The next in the queue of completed states; owned by the notifying thread.
    final var nextToNotify: Unmanaged<FutureState>? {
        get { unsafe link }
        set { unsafe link = newValue }
    }

    /// The owner of the frame on the thread's stack while the subscribers are notified.
    final var identity: Frame.Owner { unsafe Frame.owner(self) }

    // Releasing: a thread that reads the phase sees the outcome. The compiler fence is needed
    // because the compiler may move a retain below a store.
    final func show() {
        ec_compiler_fence()
        unsafe phase.store(machine.phase.rawValue, ordering: .releasing)
    }
}
