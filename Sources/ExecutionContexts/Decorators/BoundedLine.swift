/// The pieces of a bounded view: those for which the base has a ticket, then those that wait for room.
///
/// Every change that makes a piece ready to be given to the base says so, and the view then gives the base
/// one more ticket.
struct BoundedLine: ~Copyable {
    struct Piece: Sendable {
        let work: Work
        /// Who is told if the piece will not run; nil for plain submissions.
        var refused: (@Sendable (Refusal) -> Void)?
        var isBarrier = false
    }

    private let capacity: Int
    private var pieces: [Piece] = []
    /// Where the oldest piece stands; what is before it has left.
    private var oldest = 0
    /// How many of the pieces, the oldest ones, have a ticket.
    private var ticketed = 0

    init(capacity: Int) { self.capacity = capacity }

    /// Takes a piece if there is room.
    mutating func append(_ piece: Piece) -> Bool {
        guard ticketed < capacity else { return false }
        appendAlways(piece)
        return true
    }

    mutating func appendAlways(_ piece: Piece) {
        pieces.insert(piece, at: oldest + ticketed)
        ticketed += 1
    }

    /// Takes a piece in the place of the oldest that may go; it inherits that one's ticket.
    ///
    /// Only pieces younger than the last barrier may go, since only their tickets and the new piece's are
    /// interchangeable. Returns what was dropped, and whether a ticket is needed.
    mutating func appendDroppingOldest(_ piece: Piece) -> (dropped: Piece?, needsTicket: Bool) {
        if append(piece) { return (nil, true) }
        let lastBarrier = pieces[oldest...].lastIndex { $0.isBarrier }
        let first = lastBarrier.map { $0 + 1 } ?? oldest
        if piece.isBarrier || first == pieces.endIndex {
            // A barrier is never dropped, and there is no ticket for it to inherit.
            guard piece.isBarrier else { return (piece, false) }
            appendAlways(piece)
            return (nil, true)
        }
        let dropped = pieces.remove(at: first)
        pieces.append(piece)
        return (dropped, false)
    }

    /// Takes a piece, to be given to the base when there is room; true if there is by now.
    mutating func appendPatiently(_ piece: Piece) -> Bool {
        if append(piece) { return true }
        pieces.append(piece)
        return false
    }

    /// The oldest piece leaves; true if one that waited for room now has it.
    mutating func start() -> (piece: Piece?, needsTicket: Bool) {
        guard ticketed > 0 else { return (nil, false) }
        let piece = pieces[oldest]
        pieces[oldest] = Piece(work: {})
        oldest += 1
        ticketed -= 1
        let hasRoom = ticketed < capacity && oldest + ticketed < pieces.count
        if hasRoom { ticketed += 1 }
        if oldest > 32, oldest > pieces.count / 2 {
            pieces.removeFirst(oldest)
            oldest = 0
        }
        return (piece, hasRoom)
    }
}
