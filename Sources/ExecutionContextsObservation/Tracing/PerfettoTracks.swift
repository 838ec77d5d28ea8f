internal import ExecutionContexts

/// The tracks of a recording in Perfetto's format, and the slices and counts on them.
///
/// | of the recording | in the trace |
/// |---|---|
/// | a time source | a process |
/// | a job that ran | a slice on the track of its thread |
/// | a job that partly overlaps another of its thread | a slice on a track of its context |
/// | an `Async` | a slice on a track of its name |
/// | a wait | a slice on a track of its context's waits, up to four at a time |
/// | the number of waiting jobs of a context | a counter track |
struct PerfettoTracks {
    enum Kind: Hashable {
        case process
        case thread(Int)
        /// A job or an `Async` of a lane, in one of its rows.
        case run(lane: Int, row: Int)
        case wait(lane: Int, row: Int)
        case counter(lane: Int)
    }

    struct Track: Hashable {
        let clock: Int
        let kind: Kind
    }

    enum Step {
        case begin(job: Int, isWait: Bool)
        case end
        case count(Int)
    }

    struct Event {
        let instant: Int64
        let track: Int
        let step: Step
    }

    private struct Slice {
        let job: Int
        let isWait: Bool
        let span: ClosedRange<Int64>
    }

    /// In the order in which they are numbered, from 0.
    private(set) var all: [Track] = []
    private var numbers: [Track: Int] = [:]
    /// By instant. Events of a track are in the nesting order of its slices.
    private(set) var events: [Event] = []

    init(_ recording: Recording, _ parts: TraceParts) {
        for clock in recording.spans.indices { _ = number(Track(clock: clock, kind: .process)) }
        var slices: [Int: [Slice]] = [:]
        func clock(_ index: Int) -> Int { recording.lanes[recording.jobs[index].lane].clock }
        var beside: [[Int]] = Array(repeating: [], count: recording.lanes.count)
        for (index, job) in recording.jobs.enumerated() {
            guard let from = recording.start(of: index) else { continue }
            guard parts.threads.isNested[index] else {
                beside[job.lane].append(index)
                continue
            }
            let track = number(Track(clock: clock(index), kind: .thread(job.facts.thread)))
            slices[track, default: []].append(
                Slice(job: index, isWait: false, span: from...recording.end(of: index)))
        }
        for lane in beside.indices {
            for (job, row, span) in Self.rows(of: beside[lane], recording) {
                let track = number(Track(clock: clock(job), kind: .run(lane: lane, row: row)))
                slices[track, default: []].append(Slice(job: job, isWait: false, span: span))
            }
        }
        for wait in parts.waits {
            let lane = recording.jobs[wait.job].lane
            let track = number(
                Track(clock: clock(wait.job), kind: .wait(lane: lane, row: wait.row)))
            slices[track, default: []].append(Slice(job: wait.job, isWait: true, span: wait.span))
        }
        for track in all.indices { nest(slices[track] ?? [], on: track) }
        for depth in parts.depths {
            let clock = recording.lanes[depth.lane].clock
            let track = number(Track(clock: clock, kind: .counter(lane: depth.lane)))
            events.append(Event(instant: depth.instant, track: track, step: .count(depth.count)))
        }
        let unsorted = events
        events = unsorted.indices.sorted {
            (unsorted[$0].instant, $0) < (unsorted[$1].instant, $1)
        }.map { unsorted[$0] }
    }

    private mutating func number(_ track: Track) -> Int {
        if let known = numbers[track] { return known }
        numbers[track] = all.count
        all.append(track)
        return all.count - 1
    }

    /// Assigns each job to a row that is free while it runs.
    private static func rows(
        of indexes: [Int], _ recording: Recording
    ) -> [(job: Int, row: Int, span: ClosedRange<Int64>)] {
        let spans = indexes.map { ($0, (recording.start(of: $0) ?? 0)...recording.end(of: $0)) }
        var ending = spans.indices.sorted { spans[$0].1.upperBound < spans[$1].1.upperBound }[...]
        var rows = [Int?](repeating: nil, count: spans.count)
        var (free, count) = ([Int](), 0)
        // Of jobs that start together, the one that ends first comes first: its row is free
        // earlier.
        for index in spans.indices.sorted(by: {
            (spans[$0].1.lowerBound, spans[$0].1.upperBound, $0)
                < (spans[$1].1.lowerBound, spans[$1].1.upperBound, $1)
        }) {
            while let first = ending.first, let row = rows[first],
                spans[first].1.upperBound <= spans[index].1.lowerBound
            {
                free.append(row)
                ending.removeFirst()
            }
            if free.isEmpty { (free, count) = ([count], count + 1) }
            rows[index] = free.removeLast()
        }
        return spans.indices.map { (spans[$0].0, rows[$0] ?? 0, spans[$0].1) }
    }

    /// Adds begins and ends of the slices of a track, which lie inside or beside each other.
    private mutating func nest(_ slices: [Slice], on track: Int) {
        var open: [Int64] = []
        func close(until instant: Int64) {
            while let end = open.last, end <= instant {
                events.append(Event(instant: end, track: track, step: .end))
                open.removeLast()
            }
        }
        for slice in slices.sorted(by: {
            ($0.span.lowerBound, -$0.span.upperBound, $0.job)
                < ($1.span.lowerBound, -$1.span.upperBound, $1.job)
        }) {
            close(until: slice.span.lowerBound)
            events.append(
                Event(
                    instant: slice.span.lowerBound, track: track,
                    step: .begin(job: slice.job, isWait: slice.isWait)))
            open.append(slice.span.upperBound)
        }
        close(until: .max)
    }
}
