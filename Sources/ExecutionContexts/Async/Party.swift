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

    @usableFromInline
    package init() {}

    /// The cell has ended, and this party is out of its line: reads the outcome. Called once, without any lock.
    @usableFromInline
    func tell(by cell: AsyncCell) { fatalError("A party says what it does when it is told.") }

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
            unsafe next = party._withUnsafeGuaranteedRef { unsafe $0.next }
            unsafe party.release()
        }
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
        return unsafe party.takeRetainedValue()
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
