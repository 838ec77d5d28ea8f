internal import ExecutionContexts

/// The threads of a recording, and which jobs are events on them.
///
/// Complete events of one thread lie beside or inside each other: the format forbids any other
/// overlap. Jobs of one thread do so, with two exceptions: a hold that ends on another thread than
/// it began on, and hand-made reports.
struct TraceThreads {
    struct Thread: Hashable {
        let clock: Int
        let number: Int
    }

    /// The threads with jobs, by time source and number.
    private(set) var all: [Thread] = []
    /// For each job, whether it is a complete event on its thread.
    private(set) var isNested: [Bool]

    init(_ recording: Recording) {
        isNested = Array(repeating: false, count: recording.jobs.count)
        var groups: [Thread: [Int]] = [:]
        for (index, job) in recording.jobs.enumerated()
        where job.facts.started != nil && !job.facts.isAsync {
            let clock = recording.lanes[job.lane].clock
            groups[Thread(clock: clock, number: job.facts.thread), default: []].append(index)
        }
        all = groups.keys.sorted { ($0.clock, $0.number) < ($1.clock, $1.number) }
        for thread in all { nest(groups[thread] ?? [], recording) }
    }

    private mutating func nest(_ indexes: [Int], _ recording: Recording) {
        func start(_ index: Int) -> Int64 { recording.start(of: index) ?? 0 }
        // The ends of the jobs that enclose the next one, the innermost last.
        var ends: [Int64] = []
        for index in indexes.sorted(by: {
            (start($0), -recording.end(of: $0), $0) < (start($1), -recording.end(of: $1), $1)
        }) {
            while let last = ends.last, last <= start(index) { ends.removeLast() }
            let end = recording.end(of: index)
            if let last = ends.last, end > last { continue }
            isNested[index] = true
            ends.append(end)
        }
    }
}
