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
    struct Ending {
        let first: Callback.Body?
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
        // Kept from here on: until now the link has been to a living cell.
        let source = unsafe link.take()?.takeUnretainedValue()
        tell(ending)
        let hasLeft = source?.leave(self) ?? false
        didGiveUp(beforeTold: hasLeft)
    }

    fileprivate final func tell(_ ending: consuming Ending, asTail: Bool = false) {
        let mustTell = unsafe state.end()
        show()
        lock.unlock()
        if mustTell, ending.first != nil || !asTail || !becomesTail() {
            Delivery.tell(by: self, ending.first)
        }
        if unsafe tag & (Self.holdsUntilEnd | Self.keepsItself) != 0 { letGo() }
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

    fileprivate final func letGo() {
        didEnd()
        if unsafe tag & Self.keepsItself != 0 { unsafe Unmanaged.passUnretained(self).release() }
    }

    /// What it has waited for will never come: only cells that stand in its line keep it now.
    final func becomeEndless() {
        guard lockIfPending() else { return }
        unsafe tag |= Self.isEndless
        if unsafe state.parties.contains(where: { $0 is AsyncCell }) { keepItself() }
        lock.unlock()
    }

    /// Under the lock.
    final func keepItself() {
        guard unsafe state.phase == .pending, unsafe tag & Self.keepsItself == 0 else { return }
        unsafe tag |= Self.keepsItself
        _ = unsafe Unmanaged.passRetained(self)
    }
}
