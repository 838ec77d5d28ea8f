internal import ExecutionContexts

/// The ready work of one manual context, in order.
final class ManualLine: @unchecked Sendable {
    // Unchecked: `pieces`, `head` and `isOwned` are reached only under the lock of the time that it belongs to.

    struct Piece {
        let work: Work
        /// Its place among all that was submitted under its time.
        let order: UInt64
        /// When it was submitted or, of a delay, when it came.
        let since: Moment
        /// The delay that it came from, if it did.
        let delay: DelayedWork?
    }

    let name: String
    let isBackground: Bool
    /// Whether its context lives.
    var isOwned = true
    private var pieces: [Piece?] = []
    private var head = 0

    init(name: String, isBackground: Bool) {
        self.name = name
        self.isBackground = isBackground
    }

    var count: Int { pieces.count - head }

    var all: [Piece] { pieces[head...].compactMap { $0 } }

    /// The place of the oldest piece.
    var firstOrder: UInt64? { head < pieces.count ? pieces[head]?.order : nil }

    func append(_ piece: Piece) { pieces.append(piece) }

    func popFirst() -> Piece? {
        guard head < pieces.count else { return nil }
        let piece = pieces[head].take()
        head += 1
        if head == pieces.count {
            pieces.removeAll(keepingCapacity: head <= 1024)
            head = 0
        } else if head > 1024, head > pieces.count / 2 {
            // Moves as many as have left since the last time, so each piece is moved once.
            pieces.removeFirst(head)
            head = 0
        }
        return piece
    }

    func takeAll() -> [Piece] {
        defer {
            pieces = []
            head = 0
        }
        return all
    }
}

/// The time of one manual context: that of all who share it, which knows by whom a delay was set.
final class ManualLineTime: TimeSource {
    private let time: ManualTime
    private let line: ManualLine

    init(_ time: ManualTime, of line: ManualLine) {
        self.time = time
        self.line = line
    }

    var now: Moment { time.now }

    var origin: ObjectIdentifier { time.origin }

    func add(_ delay: DelayedWork, tolerance: Duration) { time.add(delay, tolerance: tolerance, of: line) }

    func remove(_ delay: DelayedWork) { time.remove(delay) }
}
