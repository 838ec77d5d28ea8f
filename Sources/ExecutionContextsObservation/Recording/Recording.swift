internal import ExecutionContexts

/// An analyzed snapshot of a recorder: jobs, their rows, and which job caused which.
struct Recording {
    struct Lane {
        let name: String
        /// The number of its time source, from 0.
        let clock: Int
        let isAsync: Bool
        /// The number of rows in which no job overlaps another.
        var rows = 1
        var greatestDepth = 0
    }

    struct Job {
        var facts: RecordedJob
        let lane: Int
        var row = 0
        let submitter: Int?
        var behind: Int?
        var completer: Int?
    }

    private(set) var lanes: [Lane]
    private(set) var jobs: [Job] = []
    /// The earliest and the latest instant of each time source.
    private(set) var spans: [ClosedRange<Int64>] = []
    let overwritten: Int
    private let labels: [String]

    init(
        _ entries: [RecorderEntry], lanes: [RecorderLane], labels: [String] = [], overwritten: Int
    ) {
        self.overwritten = overwritten
        self.labels = labels
        var clocks: [ObjectIdentifier: Int] = [:]
        // The recorder's lanes in the order of their numbers, without those of no entry.
        let numbers = Set(entries.map(\.lane)).sorted()
        var places = [Int](repeating: 0, count: lanes.count)
        self.lanes = numbers.enumerated().map { place, number in
            let lane = lanes[Int(number)]
            places[Int(number)] = place
            let clock = clocks[lane.timeSource] ?? clocks.count
            clocks[lane.timeSource] = clock
            return Lane(name: lane.name, clock: clock, isAsync: lane.isAsync)
        }
        spans = Array(repeating: 0...0, count: clocks.count)
        read(entries, places)
        measure(entries, places)
        var begun = [[Int]](repeating: [], count: self.lanes.count)
        for index in jobs.indices where jobs[index].facts.started != nil {
            begun[jobs[index].lane].append(index)
        }
        for lane in begun.indices { assignRows(begun[lane], lane) }
    }

    var publicJobs: [RecordedJob] { jobs.map(\.facts) }

    // MARK: - From events to jobs

    private mutating func read(_ entries: [RecorderEntry], _ places: [Int]) {
        var indexes: [ObservedWork.Identity: Int] = [:]
        var inside = [[Int]](repeating: [], count: lanes.count)
        var waiting = [Set<Int>](repeating: [], count: lanes.count)
        var latest = [Int?](repeating: nil, count: lanes.count)
        for entry in entries {
            let index = indexes[entry.job] ?? jobs.count
            if index == jobs.count {
                indexes[entry.job] = index
                let submitter = entry.submitter.flatMap { indexes[$0] }
                jobs.append(job(entry, places[Int(entry.lane)], submitter: submitter))
            }
            // The lane of its first entry: an excess name may have received its own lane since.
            let lane = jobs[index].lane
            switch entry.kind {
            case .enqueued:
                let last = latest[lane].flatMap { waiting[lane].contains($0) ? $0 : nil }
                jobs[index].behind = inside[lane].first ?? last
                latest[lane] = index
                waiting[lane].insert(index)
                lanes[lane].greatestDepth = max(lanes[lane].greatestDepth, waiting[lane].count)
            case .started:
                waiting[lane].remove(index)
                // A job that has not ended did not delay this one: the two ran in parallel.
                if let other = jobs[index].behind, jobs[other].facts.state != .finished {
                    jobs[index].behind = nil
                }
                if !lanes[lane].isAsync { inside[lane].append(index) }
            case .finished, .abandoned:
                waiting[lane].remove(index)
                inside[lane].removeAll { $0 == index }
                if entry.kind == .abandoned { jobs[index].behind = nil }
                jobs[index].completer = entry.completer.flatMap { indexes[$0] }
            }
            Self.update(&jobs[index].facts, by: entry)
        }
        for index in jobs.indices {
            jobs[index].facts.behind = jobs[index].behind.map { jobs[$0].facts.id }
        }
    }

    private func job(_ entry: RecorderEntry, _ lane: Int, submitter: Int?) -> Job {
        Job(
            facts: RecordedJob(
                id: entry.job, context: lanes[lane].name, isAsync: lanes[lane].isAsync,
                state: .waiting,
                enqueued: ContextInstant(nanoseconds: entry.enqueued), thread: Int(entry.thread),
                submitter: entry.submitter, source: entry.source.source(in: labels)),
            lane: lane, submitter: submitter)
    }

    // Static: a mutating method that changes one element would copy the array.
    private static func update(_ facts: inout RecordedJob, by entry: RecorderEntry) {
        // An ended job does not change: a second run of the same job is not recorded.
        guard facts.state == .waiting || facts.state == .running else { return }
        switch entry.kind {
        case .enqueued: return
        case .abandoned:
            facts.state = .abandoned
            facts.ended = ContextInstant(nanoseconds: entry.started)
        case .started:
            facts.state = .running
            facts.started = ContextInstant(nanoseconds: entry.started)
        case .finished:
            facts.state = .finished
            facts.started = ContextInstant(nanoseconds: entry.started)
            facts.ended = ContextInstant(nanoseconds: entry.ended)
            facts.completer = entry.completer
        }
        facts.thread = Int(entry.thread)
    }

    private mutating func measure(_ entries: [RecorderEntry], _ places: [Int]) {
        var isMeasured = [Bool](repeating: false, count: spans.count)
        for entry in entries {
            let clock = lanes[places[Int(entry.lane)]].clock
            let latest = entry.moment
            let earliest = min(entry.enqueued, latest)
            let span = isMeasured[clock] ? spans[clock] : earliest...latest
            spans[clock] = min(span.lowerBound, earliest)...max(span.upperBound, latest)
            isMeasured[clock] = true
        }
    }

    // MARK: - Rows

    /// The most rows of a lane: more are too thin to distinguish.
    static let rowLimit = 200

    /// Assigns each job to the first row that is free while it runs.
    private mutating func assignRows(_ begun: [Int], _ lane: Int) {
        let end = spans[lanes[lane].clock].upperBound
        var free: [Int64] = []
        for index in begun.sorted(by: { (startInstant(of: $0), $0) < (startInstant(of: $1), $1) }) {
            let from = startInstant(of: index)
            let until = jobs[index].facts.ended?.nanoseconds ?? end.addingSaturating(1)
            let row = free.firstIndex { $0 <= from } ?? min(free.count, Self.rowLimit - 1)
            if row == free.count { free.append(until) } else { free[row] = max(free[row], until) }
            jobs[index].row = row
        }
        lanes[lane].rows = max(free.count, 1)
    }

    private func startInstant(of index: Int) -> Int64 {
        jobs[index].facts.started?.nanoseconds ?? 0
    }
}
