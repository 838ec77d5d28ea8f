/// The events of a recorder, the newest over the oldest, and the names in them; under the recorder's lock.
struct RecorderRing {
    let capacity: Int
    private(set) var lanes: [RecorderLane] = []
    private(set) var overwritten = 0

    private var entries: [RecorderEntry] = []
    /// Where the next event goes, once the ring is full.
    private var next = 0
    private var numbers: [RecorderLane: UInt32] = [:]
    /// The lanes of views that reported lately, so that their names are not looked up each time.
    private var recent = [Recent](repeating: Recent(view: 0, lane: 0), count: 64)

    private struct Recent {
        var view: UInt64
        var lane: UInt32
    }

    static let laneLimit = 1000

    init(capacity: Int) {
        self.capacity = capacity
        // Reserved and untouched: memory that no event has reached is none of the machine's.
        entries.reserveCapacity(capacity)
    }

    mutating func add(
        _ entry: RecorderEntry, of name: String, in origin: ObjectIdentifier, isValue: Bool
    ) {
        var entry = entry
        entry.lane = lane(of: entry.piece.view, name, origin, isValue)
        if entries.count < capacity { return entries.append(entry) }
        entries[next] = entry
        next = next + 1 == capacity ? 0 : next + 1
        overwritten += 1
    }

    private mutating func lane(
        of view: UInt64, _ name: String, _ origin: ObjectIdentifier, _ isValue: Bool
    ) -> UInt32 {
        let place = Int(truncatingIfNeeded: view) & 63
        if recent[place].view == view { return recent[place].lane }
        let lane = number(RecorderLane(name: name, origin: origin, isValue: isValue))
        recent[place] = Recent(view: view, lane: lane)
        return lane
    }

    private mutating func number(_ lane: RecorderLane) -> UInt32 {
        if let number = numbers[lane] { return number }
        var lane = lane
        if lanes.count >= Self.laneLimit {
            // All that are too many share a lane for each time, and of times there are never many.
            lane.name = "(others)"
            if let number = numbers[lane] { return number }
            if lanes.count >= 2 * Self.laneLimit { return UInt32(lanes.count - 1) }
        }
        let number = UInt32(lanes.count)
        lanes.append(lane)
        numbers[lane] = number
        return number
    }

    /// The events in order, in memory of their own, so that the next event need not copy them under the lock.
    func copy() -> [RecorderEntry] {
        var copy: [RecorderEntry] = []
        copy.reserveCapacity(entries.count)
        copy.append(contentsOf: entries[next...])
        copy.append(contentsOf: entries[..<next])
        return copy
    }
}

/// What is reported under one name in one time.
struct RecorderLane: Hashable, Sendable {
    var name: String
    let origin: ObjectIdentifier
    /// Whether it is of values that come later and not of pieces of work.
    let isValue: Bool
}

/// One event, with everything that is known of its piece by then: older events may have been overwritten.
struct RecorderEntry: Sendable {
    let kind: RecordedEvent.Kind
    let thread: UInt32
    var lane: UInt32 = 0
    let piece: ObservedWork.Identity
    let enqueued: Int64
    /// Of a piece that never started, when it was let go of.
    let started: Int64
    let ended: Int64
    // Numbers and not optionals, which would be half as large again: views are numbered from 1.
    private let submittingView: UInt64
    private let submittingPiece: UInt64
    private let completingView: UInt64
    private let completingPiece: UInt64

    init(
        _ kind: RecordedEvent.Kind, _ piece: ObservedWork.Identity, thread: UInt32, enqueued: Int64,
        started: Int64, ended: Int64, submitter: ObservedWork.Identity?,
        completer: ObservedWork.Identity? = nil
    ) {
        self.kind = kind
        self.piece = piece
        self.thread = thread
        self.enqueued = enqueued
        self.started = started
        self.ended = ended
        submittingView = submitter?.view ?? 0
        submittingPiece = submitter?.piece ?? 0
        completingView = completer?.view ?? 0
        completingPiece = completer?.piece ?? 0
    }

    var submitter: ObservedWork.Identity? {
        submittingView == 0 ? nil : ObservedWork.Identity(view: submittingView, piece: submittingPiece)
    }

    var completer: ObservedWork.Identity? {
        completingView == 0 ? nil : ObservedWork.Identity(view: completingView, piece: completingPiece)
    }

    /// When it happened.
    var moment: Int64 {
        switch kind {
        case .enqueued: enqueued
        case .started, .abandoned: started
        case .finished: ended
        }
    }
}
