internal import ExecutionContexts

/// Writes jobs as short arrays: most numbers are differences, and trailing zeros are omitted.
///
/// | place | number |
/// |---|---|
/// | 0, 1 | the lane, the row |
/// | 2 | submitted, after the job before |
/// | 3 | how long it waited; -1 if it has not started |
/// | 4 | how long it ran, or waited until it was abandoned; -1 if it has not ended |
/// | 5 | its number, above that of the job before in its lane |
/// | 6 | its thread |
/// | 7 | its title in the list of titles, from 1; 0 if it has none |
/// | 8, 9, 10 | how far before it are its submitter, the job in front, its completer; 0 if none |
/// | 11 | the state: 0 finished, 1 waiting, 2 running, 3 abandoned |
struct TimelineNumbers {
    private let recording: Recording
    private var enqueued: [Int64]
    private var last: [Int64]
    private(set) var titles = JobTitles()

    init(_ recording: Recording) {
        self.recording = recording
        enqueued = recording.spans.map(\.lowerBound)
        last = Array(repeating: 0, count: recording.lanes.count)
    }

    /// The numbers of the next job, as JSON.
    mutating func text(of index: Int) -> String {
        let job = recording.jobs[index]
        let facts = job.facts
        let clock = recording.lanes[job.lane].clock
        let start = facts.started ?? facts.enqueued
        let number = Int64(clamping: facts.id.job)
        func back(_ other: Int?) -> Int64 { other.map { Int64(index - $0) } ?? 0 }
        let state: Int64 =
            switch facts.state {
            case .finished: 0
            case .waiting: 1
            case .running: 2
            case .abandoned: 3
            }
        var all: [Int64] = [
            Int64(job.lane), Int64(job.row), facts.enqueued.nanoseconds - enqueued[clock],
            facts.started.map { facts.enqueued.duration(to: $0).nanoseconds } ?? -1,
            facts.ended.map { start.duration(to: $0).nanoseconds } ?? -1,
            number - last[job.lane], Int64(facts.thread), Int64(titles.number(of: facts.source)),
            back(job.submitter), back(job.behind), back(job.completer), state,
        ]
        enqueued[clock] = facts.enqueued.nanoseconds
        last[job.lane] = number
        while all.last == 0 { all.removeLast() }
        return "[" + all.map(String.init).joined(separator: ",") + "]"
    }
}
