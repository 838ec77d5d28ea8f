/// Somebody who is to be told how an `Async` ended: a callback, a derived `Async`, a waiting task or thread.
///
/// It stands in the line of one cell at a time, and is told once. Who stops caring leaves the line before.
@usableFromInline
@safe package class Party: @unchecked Sendable {
    // Unchecked because it can be inherited from. The links belong to the lock of the cell in whose line it stands,
    // which makes the run-time exclusivity checks superfluous.
    @exclusivity(unchecked) fileprivate final var next: Unmanaged<Party>?
    @exclusivity(unchecked) fileprivate final var previous: Unmanaged<Party>?
    @exclusivity(unchecked) fileprivate final var isInLine = false
    /// For a cell whose step may bring another cell and wait for nothing else, like that of `flatMap`.
    final let mayPassOn: Bool
    /// Whether nothing refers to it but the caller that runs its step; belongs to that caller. See `AsyncCell.follow`.
    @exclusivity(unchecked) final var isUnheld = false
    /// For a cell: whether the one that it waited for was freed before it ended. Belongs to the lock of this cell.
    @exclusivity(unchecked) final var hasLostSource = false

    /// Whether it is told like every other party, and is no interest in the outcome (law 26).
    ///
    /// Set by its maker, before it joins a line.
    package final var isOnlooker = false

    @usableFromInline
    package init() { mayPassOn = false }

    init(mayPassOn: Bool) { self.mayPassOn = mayPassOn }

    /// The cell has ended, and this party is out of its line: reads the outcome. Called once, without any lock.
    @usableFromInline
    func tell(by cell: AsyncCell) { fatalError("A party says what it does when it is told.") }

    /// The cell in whose line it stands is being freed and has not ended: it will not be told.
    ///
    /// Called in the `deinit` of that cell, so nothing of a user's may be called or freed here.
    func sourceIsGone(_ source: UnsafeRawPointer) {}

    /// By which the thread that tells it knows it again.
    final var address: UnsafeRawPointer { unsafe UnsafeRawPointer(Unmanaged.passUnretained(self).toOpaque()) }

    /// What it is, for people who ask who waits for whom.
    var label: String { fatalError("A party says what it is.") }
}

/// The parties of one cell, in the order in which they came.
///
/// The line owns one reference to each; counting more of them at every link would be half of what telling costs.
@safe struct PartyLine: ~Copyable {
    private var first: Unmanaged<Party>?
    private var last: Unmanaged<Party>?

    deinit {
        var next = unsafe first
        while let party = unsafe next {
            unsafe next = party._withUnsafeGuaranteedRef { party in
                unsafe party.isInLine = false
                unsafe party.previous = nil
                return unsafe party.next.take()
            }
            unsafe party.release()
        }
    }

    /// Says to all of them that the cell at this address, whose line this is, is being freed.
    func sourceIsGone(_ source: UnsafeRawPointer) {
        var next = unsafe first
        while let party = unsafe next {
            unsafe party._withUnsafeGuaranteedRef { party in
                unsafe party.sourceIsGone(source)
                unsafe next = party.next
            }
        }
    }

    /// The only one that stands here, taken out if `isRight` says so.
    mutating func removeOnly(where isRight: (Party) -> Bool) -> Party? {
        guard let party = unsafe first, unsafe party.toOpaque() == last?.toOpaque(),
            unsafe party._withUnsafeGuaranteedRef(isRight)
        else { return nil }
        return removeFirst()
    }

    var isEmpty: Bool { unsafe first == nil }

    mutating func append(_ party: consuming Party) {
        let party = unsafe Unmanaged.passRetained(party)
        unsafe party._withUnsafeGuaranteedRef {
            unsafe $0.isInLine = true
            unsafe $0.previous = last
        }
        if let last = unsafe last {
            unsafe last._withUnsafeGuaranteedRef { unsafe $0.next = party }
        } else {
            unsafe first = party
        }
        unsafe last = party
    }

    /// Puts one before all others.
    mutating func prepend(_ party: consuming Party) {
        let party = unsafe Unmanaged.passRetained(party)
        unsafe party._withUnsafeGuaranteedRef {
            unsafe $0.isInLine = true
            unsafe $0.next = first
        }
        if let first = unsafe first {
            unsafe first._withUnsafeGuaranteedRef { unsafe $0.previous = party }
        } else {
            unsafe last = party
        }
        unsafe first = party
    }

    mutating func removeFirst() -> Party? {
        guard let party = unsafe first else { return nil }
        unsafe party._withUnsafeGuaranteedRef { unlink($0) }
        var owned = unsafe party.takeRetainedValue()
        // Asked here, where the line's reference is the only one that the library itself has.
        if owned.mayPassOn {
            // Two statements: an assignment takes a reference to the object before it asks.
            let isAlone = isKnownUniquelyReferenced(&owned)
            unsafe owned.isUnheld = isAlone
        }
        return owned
    }

    /// Takes one out of the middle; false if it does not stand here.
    ///
    /// The caller holds the party: nothing is freed in here.
    mutating func remove(_ party: Party) -> Bool {
        guard unsafe party.isInLine else { return false }
        unlink(party)
        unsafe Unmanaged.passUnretained(party).release()
        return true
    }

    private mutating func unlink(_ party: Party) {
        let (previous, next) = unsafe (party.previous, party.next)
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
        unsafe party.next = nil
        unsafe party.previous = nil
        unsafe party.isInLine = false
    }

    /// Whether one that stands nowhere else stands here.
    func contains(_ party: Party) -> Bool { unsafe party.isInLine }

    /// Whether none of them is an interest in the outcome.
    var hasOnlyOnlookers: Bool {
        var next = unsafe first
        while let party = unsafe next {
            let isOnlooker = unsafe party._withUnsafeGuaranteedRef {
                unsafe next = $0.next
                return $0.isOnlooker
            }
            guard isOnlooker else { return false }
        }
        return true
    }

    /// All of them, in order.
    var parties: [Party] {
        var parties: [Party] = []
        var next = unsafe first
        while let party = unsafe next {
            unsafe party._withUnsafeGuaranteedRef {
                parties.append($0)
                unsafe next = $0.next
            }
        }
        return parties
    }
}
