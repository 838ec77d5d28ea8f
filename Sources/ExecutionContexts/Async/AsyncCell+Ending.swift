/// How a cell ends, once (law 24), and what comes of it.
extension AsyncCell {
    /// Locks, if it has not ended.
    final func lockIfPending() -> Bool {
        lock.lock()
        if unsafe state.phase == .pending { return true }
        lock.unlock()
        return false
    }

    final func unlock() { lock.unlock() }

    /// What is there only until it ends; nil afterwards.
    final func whilePending<Value>(_ read: () -> Value?) -> Value? {
        guard lockIfPending() else { return nil }
        defer { unlock() }
        return read()
    }

    /// What the first caller to end it has in hand: the lock, and the first callback.
    @usableFromInline
    struct Ending: ~Copyable {
        var first: Callback.Body?
    }

    /// Locks, if it has not ended. The caller then stores the outcome and calls `finish`.
    @usableFromInline
    final func beginEnd() -> Ending? {
        guard lockIfPending() else { return nil }
        guard unsafe state.hasFirst else { return Ending(first: nil) }
        unsafe type = nil
        return unsafe Ending(first: take(Callback.Boxed.self).body)
    }

    /// Unlocks, tells everybody and forgets the source.
    @usableFromInline
    final func finish(_ ending: consuming Ending) {
        unsafe link = nil
        tell(ending, asTail: true)
    }

    /// Unlocks, tells everybody and leaves the source, which is cancelled if nobody else wants it.
    final func finishLeaving(_ ending: consuming Ending) {
        let source = source()
        unsafe link = nil
        let hasLostSource = unsafe hasLostSource
        tell(ending)
        let hasLeft = source?.leave(self) ?? hasLostSource
        didGiveUp(beforeTold: hasLeft)
    }

    fileprivate final func tell(_ ending: consuming Ending, asTail: Bool = false) {
        // Handed over to the last: the callback and what it captured are freed where nesting is counted.
        let first = ending.first
        ending.first = nil
        let mustTell = unsafe state.end()
        show()
        lock.unlock()
        if mustTell, first != nil || !asTail || !becomesTail() { Delivery.tell(by: self, consume first) }
        if unsafe tag & Self.holdsUntilEnd != 0 { Delivery.finish(self) }
    }

    /// Ends it with an error and tells everybody; false if it had ended already, which changes nothing (law 24).
    @usableFromInline
    @discardableResult
    final func end(throwing error: any Error) -> Bool {
        guard let ending = beginEnd() else { return false }
        fail(error)
        finish(ending)
        return true
    }

    /// Stores an error instead of a value; under the lock, in the place of a value.
    final func fail(_ error: any Error) {
        store(Failure(error: error))
        unsafe isFailure = true
    }

    /// An error as a value of one type: by itself it would be opened, and stored as what it is.
    @usableFromInline
    struct Failure {
        @usableFromInline let error: any Error
    }

    /// Ends it with an error that did not come from its source, and leaves that; true if this did it.
    @discardableResult
    final func giveUp(_ error: any Error) -> Bool {
        guard let ending = beginEnd() else { return false }
        fail(error)
        finishLeaving(ending)
        return true
    }

    /// Frees what a cell still has that nobody refers to any more; in its `deinit`.
    ///
    /// What a user's closures and values refer to may be further cells, a million of them in a row.
    final func freeContents() {
        guard Delivery.descend() else {
            return unsafe Errands.append(
                toFree: Contents(line: state.takeLine(), step: step.take(), outcome: takeOutcome()))
        }
        if let type = unsafe type { destroy(type) }
        unsafe type = nil
        unsafe step = nil
        if unsafe !state.isLineEmpty { _ = unsafe state.takeLine() }
        Delivery.ascend()
    }

    /// What a cell had that was freed too deep.
    private final class Contents {
        private let line: PartyLine
        private let step: Step?
        private let outcome: Any?

        init(line: consuming PartyLine, step: Step?, outcome: Any?) {
            self.line = line
            self.step = step
            self.outcome = outcome
        }
    }
}
