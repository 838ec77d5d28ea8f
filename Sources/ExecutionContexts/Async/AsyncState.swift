/// What an `Async` knows besides its outcome, as a pure state machine.
///
/// Every change is a step that returns what is to be done about it, and it is done after unlocking: no callback, no
/// context and nobody's deinit is met under the lock (law 9).
package struct AsyncState: ~Copyable {
    package enum Phase: UInt8 {
        /// It has not ended.
        case pending
        /// It has ended, and one thread tells the parties, one after the other.
        case telling
        /// It has ended, and nobody waits to be told.
        case told
    }

    private var line = PartyLine()
    // Last, where the objects that hold this have room for it.
    package private(set) var phase = Phase.pending
    /// Whether there is a first callback, which stands in no line because whoever holds this keeps it.
    package private(set) var hasFirst = false
    /// Whether some in the line may be no interest in the outcome.
    private var hasOnlookers = false

    package init() {}

    /// A callback comes, and is the first of all: then the caller keeps it.
    package mutating func joinFirst() -> Bool {
        guard phase == .pending, !hasFirst, line.isEmpty else { return false }
        hasFirst = true
        return true
    }

    /// A party comes; true if the caller is to tell the line.
    ///
    /// While another thread tells, the party waits for its turn: order wins over immediacy (law 25).
    @inline(__always)
    package mutating func join(_ party: consuming Party) -> Bool {
        line.append(party)
        guard phase == .told else { return false }
        phase = .telling
        return true
    }

    /// A party comes that is no interest in the outcome; true if the caller is to tell the line.
    package mutating func join(onlooker: Party) -> Bool {
        hasOnlookers = true
        return join(onlooker)
    }

    /// What became of one that wanted to leave.
    package enum Departure {
        /// It has been told, or is about to be.
        case tooLate
        case left
        /// It left, and there is nobody who wants to know any more.
        case leftNobody
    }

    package mutating func leave(_ party: Party) -> Departure {
        guard line.remove(party) else { return .tooLate }
        return isUnwanted ? .leftNobody : .left
    }

    /// Whether nobody wants to know how it ends, which is still open.
    package var isUnwanted: Bool {
        // Onlookers are rare, so none are counted: the line is searched where there may be some.
        phase == .pending && !hasFirst && (line.isEmpty || hasOnlookers && line.hasOnlyOnlookers)
    }

    /// The first outcome comes; true if there is somebody to be told, by the caller, the first callback first.
    @inline(__always)
    package mutating func end() -> Bool {
        guard hasFirst || !line.isEmpty else {
            phase = .told
            return false
        }
        hasFirst = false
        phase = .telling
        return true
    }

    /// Who is to be told next; nil when all have been.
    package mutating func next() -> Party? {
        let party = line.removeFirst()
        if party == nil { phase = .told }
        return party
    }

    /// The only party of one that has not ended, taken out if `isRight` says so.
    mutating func removeOnly(where isRight: (Party) -> Bool) -> Party? {
        phase == .pending && !hasFirst ? line.removeOnly(where: isRight) : nil
    }

    /// Says to all parties that the cell at this address, whose state this is, is being freed.
    func sourceIsGone(_ source: UnsafeRawPointer) { unsafe line.sourceIsGone(source) }

    /// The line of one that is being freed.
    mutating func takeLine() -> PartyLine {
        var taken = PartyLine()
        swap(&line, &taken)
        return taken
    }

    /// Whether no party stands here.
    var isLineEmpty: Bool { line.isEmpty }

    /// Telling is put off: the first callback joins the line, before all others.
    package mutating func putBack(_ first: consuming Party) { line.prepend(first) }

    /// Who waits, in order, but for the first callback.
    package var parties: [Party] { line.parties }

    /// Whether this party waits.
    func contains(_ party: Party) -> Bool { line.contains(party) }
}
