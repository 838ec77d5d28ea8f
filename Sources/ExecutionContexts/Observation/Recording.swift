/// What a recorder had at one moment, worked out: pieces, their rows, who led to whom.
struct Recording {
    struct Lane {
        let name: String
        /// Which time it is in, from 0.
        let clock: Int
        let isValue: Bool
        /// How many rows its pieces need so that none lies over another.
        var rows = 1
        var greatestDepth = 0
    }

    struct Piece {
        var facts: RecordedPiece
        let lane: Int
        var row = 0
        let submitter: Int?
        var behind: Int?
        var completer: Int?
    }

    private(set) var lanes: [Lane]
    private(set) var pieces: [Piece] = []
    /// The earliest and the latest moment of each time.
    private(set) var spans: [ClosedRange<Int64>] = []
    let overwritten: Int

    init(_ entries: [RecorderEntry], lanes: [RecorderLane], overwritten: Int) {
        self.overwritten = overwritten
        var clocks: [ObjectIdentifier: Int] = [:]
        self.lanes = lanes.map { lane in
            let clock = clocks[lane.origin] ?? clocks.count
            clocks[lane.origin] = clock
            return Lane(name: lane.name, clock: clock, isValue: lane.isValue)
        }
        spans = Array(repeating: 0...0, count: clocks.count)
        read(entries)
        measure(entries)
        var begun = [[Int]](repeating: [], count: lanes.count)
        for place in pieces.indices where pieces[place].facts.started != nil {
            begun[pieces[place].lane].append(place)
        }
        for lane in begun.indices { pack(begun[lane], lane) }
    }

    var publicPieces: [RecordedPiece] { pieces.map(\.facts) }

    // MARK: - From events to pieces

    private mutating func read(_ entries: [RecorderEntry]) {
        var places: [ObservedWork.Identity: Int] = [:]
        var inside = [[Int]](repeating: [], count: lanes.count)
        var waiting = [Set<Int>](repeating: [], count: lanes.count)
        var latest = [Int?](repeating: nil, count: lanes.count)
        for entry in entries {
            let lane = Int(entry.lane)
            let place = places[entry.piece] ?? pieces.count
            if place == pieces.count {
                places[entry.piece] = place
                pieces.append(piece(entry, lane, submitter: entry.submitter.flatMap { places[$0] }))
            }
            switch entry.kind {
            case .enqueued:
                let last = latest[lane].flatMap { waiting[lane].contains($0) ? $0 : nil }
                pieces[place].behind = inside[lane].first ?? last
                latest[lane] = place
                waiting[lane].insert(place)
                lanes[lane].greatestDepth = max(lanes[lane].greatestDepth, waiting[lane].count)
            case .started:
                waiting[lane].remove(place)
                // What has not ended has not kept it waiting: it runs beside it.
                if let other = pieces[place].behind, pieces[other].facts.state != .finished {
                    pieces[place].behind = nil
                }
                if !lanes[lane].isValue { inside[lane].append(place) }
            case .finished, .abandoned:
                waiting[lane].remove(place)
                inside[lane].removeAll { $0 == place }
                if entry.kind == .abandoned { pieces[place].behind = nil }
                pieces[place].completer = entry.completer.flatMap { places[$0] }
            }
            Self.update(&pieces[place].facts, by: entry)
        }
        for place in pieces.indices {
            pieces[place].facts.behind = pieces[place].behind.map { pieces[$0].facts.id }
        }
    }

    private func piece(_ entry: RecorderEntry, _ lane: Int, submitter: Int?) -> Piece {
        Piece(
            facts: RecordedPiece(
                id: entry.piece, context: lanes[lane].name, isAsync: lanes[lane].isValue, state: .waiting,
                enqueued: Moment(nanoseconds: entry.enqueued), thread: Int(entry.thread),
                submitter: entry.submitter),
            lane: lane, submitter: submitter)
    }

    // Of the type, since the pieces would be copied where a method of the value changes one of them.
    private static func update(_ facts: inout RecordedPiece, by entry: RecorderEntry) {
        // What has ended stays as it was reported: a context that runs a piece twice is not followed.
        guard facts.state == .waiting || facts.state == .running else { return }
        switch entry.kind {
        case .enqueued: return
        case .abandoned:
            facts.state = .abandoned
            facts.ended = Moment(nanoseconds: entry.started)
        case .started:
            facts.state = .running
            facts.started = Moment(nanoseconds: entry.started)
        case .finished:
            facts.state = .finished
            facts.started = Moment(nanoseconds: entry.started)
            facts.ended = Moment(nanoseconds: entry.ended)
            facts.completer = entry.completer
        }
        facts.thread = Int(entry.thread)
    }

    private mutating func measure(_ entries: [RecorderEntry]) {
        var isMeasured = [Bool](repeating: false, count: spans.count)
        for entry in entries {
            let clock = lanes[Int(entry.lane)].clock
            let latest = entry.moment
            let earliest = min(entry.enqueued, latest)
            let span = isMeasured[clock] ? spans[clock] : earliest...latest
            spans[clock] = min(span.lowerBound, earliest)...max(span.upperBound, latest)
            isMeasured[clock] = true
        }
    }

    // MARK: - Rows

    /// More rows than this nobody can tell apart.
    static let rowLimit = 200

    /// Puts each piece into the first row that is free while it runs.
    private mutating func pack(_ begun: [Int], _ lane: Int) {
        let end = spans[lanes[lane].clock].upperBound
        var free: [Int64] = []
        for place in begun.sorted(by: { (start(of: $0), $0) < (start(of: $1), $1) }) {
            let from = start(of: place)
            let until = pieces[place].facts.ended?.nanoseconds ?? end.addingSaturating(1)
            let row = free.firstIndex { $0 <= from } ?? min(free.count, Self.rowLimit - 1)
            if row == free.count { free.append(until) } else { free[row] = max(free[row], until) }
            pieces[place].row = row
        }
        lanes[lane].rows = max(free.count, 1)
    }

    private func start(of place: Int) -> Int64 { pieces[place].facts.started?.nanoseconds ?? 0 }
}
