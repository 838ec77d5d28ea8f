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
    struct Completion: ~Copyable {
        var first: Callback.Body?
    }

    /// Locks it if it is pending. The caller then stores the outcome and calls `finishCompletion`.
    @usableFromInline
    final func beginCompletion() -> Completion? {
        guard lockIfPending() else { return nil }
        guard unsafe machine.hasFirst else { return Completion(first: nil) }
        unsafe type = nil
        return unsafe Completion(first: take(Callback.Boxed.self).body)
    }

    /// Unlocks, notifies all subscribers and forgets the source.
    @usableFromInline
    final func finishCompletion(_ completion: consuming Completion) {
        unsafe link = nil
        notify(completion, asTail: true)
    }

    /// Unlocks, notifies all subscribers and unsubscribes from the source, which may cancel it
    /// (law 26).
    final func finishCompletionAndUnsubscribe(_ completion: consuming Completion) {
        let source = source()
        unsafe link = nil
        let sourceWasFreed = unsafe sourceWasFreed
        notify(completion)
        let hasLeft = source?.unsubscribe(self) ?? sourceWasFreed
        didGiveUp(beforeNotified: hasLeft)
    }

    fileprivate final func notify(_ completion: consuming Completion, asTail: Bool = false) {
        // Consumed, so that the callback and its captures are freed within the bounds of nesting.
        let first = completion.first
        completion.first = nil
        let mustNotify = unsafe machine.complete()
        show()
        lock.unlock()
        if mustNotify, first != nil || !asTail || !becomesTail() {
            BoundedNesting.notify(by: self, consume first)
        }
        if unsafe tag & Self.holdsUntilCompletion != 0 { BoundedNesting.release(by: self) }
    }

    /// Completes it with an error; false, and no effect, if it had completed already (law 24).
    @usableFromInline
    @discardableResult
    final func complete(throwing error: any Error) -> Bool {
        guard let completion = beginCompletion() else { return false }
        fail(error)
        finishCompletion(completion)
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
        guard let completion = beginCompletion() else { return false }
        fail(error)
        finishCompletionAndUnsubscribe(completion)
        return true
    }

    /// Frees what the state still owns; called by its `deinit`.
    ///
    /// The user's closures and values may own further states, a million of them in a row.
    final func freeContents() {
        guard BoundedNesting.descend() else {
            return unsafe DeferredCalls.append(
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
