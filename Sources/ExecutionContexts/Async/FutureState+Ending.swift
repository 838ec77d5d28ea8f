/// Completion of a future state, once (law 24), and its consequences.
extension FutureState {
    /// Locks it if it is pending; false, and unlocked, otherwise.
    final func lockIfPending() -> Bool {
        lock.lock()
        if unsafe machine.phase == .pending { return true }
        lock.unlock()
        return false
    }

    final func unlock() { lock.unlock() }

    /// Reads under the lock what exists only until completion; nil afterwards.
    final func whilePending<Value>(_ read: () -> Value?) -> Value? {
        guard lockIfPending() else { return nil }
        defer { unlock() }
        return read()
    }

    /// What the completing thread owns, beside the lock: the first callback, if there is one.
    @usableFromInline
    struct Ending: ~Copyable {
        var first: Callback.Body?
    }

    /// Locks it if it is pending. The caller then stores the outcome and calls `finish`.
    @usableFromInline
    final func beginEnd() -> Ending? {
        guard lockIfPending() else { return nil }
        guard unsafe machine.hasFirst else { return Ending(first: nil) }
        unsafe type = nil
        return unsafe Ending(first: take(Callback.Boxed.self).body)
    }

    /// Unlocks, notifies all subscribers and forgets the source.
    @usableFromInline
    final func finish(_ ending: consuming Ending) {
        unsafe link = nil
        notify(ending, asTail: true)
    }

    /// Unlocks, notifies all subscribers and leaves the source, which may cancel it (law 26).
    final func finishLeaving(_ ending: consuming Ending) {
        let source = source()
        unsafe link = nil
        let sourceWasFreed = unsafe sourceWasFreed
        notify(ending)
        let hasLeft = source?.leave(self) ?? sourceWasFreed
        didGiveUp(beforeNotified: hasLeft)
    }

    fileprivate final func notify(_ ending: consuming Ending, asTail: Bool = false) {
        // Consumed, so that the callback and its captures are freed within the bounds of nesting.
        let first = ending.first
        ending.first = nil
        let mustNotify = unsafe machine.end()
        show()
        lock.unlock()
        if mustNotify, first != nil || !asTail || !becomesTail() {
            BoundedNesting.notify(by: self, consume first)
        }
        if unsafe tag & Self.holdsUntilEnd != 0 { BoundedNesting.finish(self) }
    }

    /// Completes it with an error; false, and no effect, if it had completed already (law 24).
    @usableFromInline
    @discardableResult
    final func end(throwing error: any Error) -> Bool {
        guard let ending = beginEnd() else { return false }
        fail(error)
        finish(ending)
        return true
    }

    /// Stores an error as the outcome; under the lock.
    final func fail(_ error: any Error) {
        store(Failure(error: error))
        unsafe isFailure = true
    }

    /// Wraps an error: on its own it would be opened as an existential, and stored as its own type.
    @usableFromInline
    struct Failure {
        @usableFromInline let error: any Error
    }

    /// Completes it with an error that is not its source's, and leaves the source; true if it did.
    @discardableResult
    final func giveUp(_ error: any Error) -> Bool {
        guard let ending = beginEnd() else { return false }
        fail(error)
        finishLeaving(ending)
        return true
    }

    /// Frees what the state still owns; called by its `deinit`.
    ///
    /// The user's closures and values may own further states, a million of them in a row.
    final func freeContents() {
        guard BoundedNesting.descend() else {
            return unsafe DeferredNotifications.append(
                toFree: Contents(
                    queue: machine.takeQueue(), propagation: propagation.take(),
                    outcome: takeOutcome()))
        }
        if let type = unsafe type { destroy(type) }
        unsafe type = nil
        unsafe propagation = nil
        if unsafe !machine.isQueueEmpty { _ = unsafe machine.takeQueue() }
        BoundedNesting.ascend()
    }

    /// The contents of a state that was freed below the nesting limit.
    private final class Contents {
        private let queue: SubscriberQueue
        private let propagation: Propagation?
        private let outcome: Any?

        init(queue: consuming SubscriberQueue, propagation: Propagation?, outcome: Any?) {
            self.queue = queue
            self.propagation = propagation
            self.outcome = outcome
        }
    }
}
