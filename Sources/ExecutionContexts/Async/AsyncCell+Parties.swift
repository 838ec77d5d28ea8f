internal import CPlatform
internal import Synchronization

/// Who waits for a cell, and how they are told.
extension AsyncCell {
    /// Takes a party in, and tells it if that is due.
    @usableFromInline
    final func join(_ party: consuming Party) {
        lock.lock()
        let mustTell = unsafe state.join(party)
        if mustTell { show() }
        lock.unlock()
        if mustTell { Delivery.tell(by: self) }
    }

    /// Takes in a party that is told like every other one, and is no interest in the outcome.
    final func join(onlooker: Party) {
        lock.lock()
        let mustTell = unsafe state.join(onlooker: onlooker)
        if mustTell { show() }
        lock.unlock()
        if mustTell { Delivery.tell(by: self) }
    }

    /// Takes in a cell that others know of, unless it has ended: then nobody would take it out of the line again.
    ///
    /// Once it is in, it is not looked at: it may have been told, and stand in another line by then.
    final func takeIn(_ follower: AsyncCell) {
        lock.lock()
        // Whoever ended it has looked for it here before, or will find it.
        guard follower.isPending else {
            lock.unlock()
            follower.freeStep()
            return cancelIfUnwanted()
        }
        let mustTell = unsafe state.join(follower)
        if mustTell { show() }
        lock.unlock()
        if mustTell { Delivery.tell(by: self) }
    }

    /// Takes in a callback that is to be called on the spot; the first of all needs no memory of its own.
    @usableFromInline
    final func join(_ body: @escaping Callback.Body) {
        lock.lock()
        let isFirst = unsafe state.joinFirst()
        if isFirst {
            unsafe write(Callback.Boxed(body: body))
            unsafe type = Callback.Boxed.self
        }
        lock.unlock()
        if !isFirst { join(Callback(body)) }
    }

    /// Lets a party go that has not been told; the last one to leave takes the cell with it (law 26).
    ///
    /// False if the party has been told or is being told.
    @discardableResult
    final func leave(_ party: Party, cancelsIfLast: Bool = true) -> Bool {
        lock.lock()
        let departure = unsafe state.leave(party)
        lock.unlock()
        if departure == .leftNobody, cancelsIfLast, endsUnwanted { Delivery.cancel(self) }
        return departure != .tooLate
    }

    /// Cancels if there is nobody who wants to know; for one who thought of joining and did not.
    final func cancelIfUnwanted() {
        lock.lock()
        let isUnwanted = unsafe state.isUnwanted
        lock.unlock()
        if isUnwanted, endsUnwanted { Delivery.cancel(self) }
    }

    /// Tells one after the other, for whoever has brought about the end or has joined after it.
    final func tellAll(_ first: consuming Callback.Body?) {
        let outer = unsafe ec_tail()
        callFirst(consume first)
        var tail = tellLine()
        // A chain is told link by link in this loop, and not one inside the other.
        while let cell = tail { tail = cell.tellLine() }
        unsafe ec_set_tail(outer)
    }

    /// Apart from the line, whose loop counts references once more a link if it holds a callback that is given away.
    @inline(never)
    private final func callFirst(_ first: consuming Callback.Body?) {
        guard let first else { return }
        unsafe Frame.enter(identity) { first(self) }
    }

    /// Tells one after the other; returns the last one if it has ended by it and is to tell its own line.
    fileprivate final func tellLine() -> AsyncCell? {
        var tail: AsyncCell?
        unsafe Frame.enter(identity) {
            while let party = next() {
                // Not the last one after all: it goes before those who came after it.
                if let cell = tail.take() { Delivery.tell(by: cell) }
                unsafe ec_set_tail(party.address)
                party.tell(by: self)
                if unsafe ec_tail() == nil { tail = unsafe unsafeDowncast(party, to: AsyncCell.self) }
            }
        }
        return tail
    }

    /// Leaves the telling to whoever is telling this one right now; false if there is nobody.
    final func becomesTail() -> Bool {
        guard unsafe ec_tail() == address else { return false }
        ec_set_tail(nil)
        return true
    }

    fileprivate final func next() -> Party? {
        lock.lock()
        defer { lock.unlock() }
        let party = unsafe state.next()
        if party == nil { show() }
        return party
    }

    /// Telling is put off: the first callback joins the line.
    final func putBack(_ first: @escaping Callback.Body) {
        let callback = Callback(first)
        lock.lock()
        unsafe state.putBack(callback)
        lock.unlock()
    }

    /// The next of those that have ended and are to tell it; belongs to the thread that tells.
    final var nextErrand: Unmanaged<AsyncCell>? {
        get { unsafe link }
        set { unsafe link = newValue }
    }

    /// What stands on the thread's stack of frames while it tells the parties.
    final var identity: Frame.Owner { unsafe Frame.owner(self) }

    // Releasing: after the outcome. The fence is for the compiler, which may move a retain below a store.
    final func show() {
        ec_compiler_fence()
        unsafe phase.store(state.phase.rawValue, ordering: .releasing)
    }
}
