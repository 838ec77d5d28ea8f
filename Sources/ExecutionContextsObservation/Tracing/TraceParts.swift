internal import ExecutionContexts

/// The parts of a recording that a trace shows, in either format.
struct TraceParts {
    /// A wait that is shown, in one of the rows of its context.
    struct Wait {
        let job: Int
        let row: Int
        let span: ClosedRange<Int64>
    }

    /// The arrow from the submitter, at the instant of the submission, to the start of the job.
    struct Hop {
        let job: Int
        let submitter: Int
        let left: Int64
    }

    let threads: TraceThreads
    private(set) var waits: [Wait] = []
    private(set) var hops: [Hop] = []
    private(set) var depths: [TraceDepth] = []

    init(_ recording: Recording) {
        threads = TraceThreads(recording)
        hops = recording.jobs.indices.compactMap { hop($0, recording) }
        var members = [[Int]](repeating: [], count: recording.lanes.count)
        for (index, job) in recording.jobs.enumerated() { members[job.lane].append(index) }
        for lane in recording.lanes.indices where !recording.lanes[lane].isAsync {
            addWaits(of: members[lane], recording)
            depths += recording.depths(lane, of: members[lane])
        }
    }

    /// How many waits of a context a trace shows at a time. The counter shows how many there are.
    private static var waitLimit: Int { 4 }

    /// Adds the waits of a context; of overlapping ones, those that began first.
    ///
    /// A wait of less than a thousandth of the recording is at most a pixel wide, and omitted.
    private mutating func addWaits(of members: [Int], _ recording: Recording) {
        var free = [Int64](repeating: .min, count: Self.waitLimit)
        for index in members {
            let job = recording.jobs[index]
            let from = recording.since(job.facts.enqueued, index)
            let until = recording.start(of: index) ?? recording.end(of: index)
            let span = recording.spans[recording.lanes[job.lane].clock]
            guard until > from, until - from >= (span.upperBound - span.lowerBound) / 1_000,
                let row = free.firstIndex(where: { $0 <= from })
            else { continue }
            free[row] = until
            waits.append(Wait(job: index, row: row, span: from...until))
        }
    }

    /// The hop to a job, if it and its submitter are on threads and share a time source.
    ///
    /// A job that runs inside its submitter is drawn under it, and has no arrow.
    private func hop(_ index: Int, _ recording: Recording) -> Hop? {
        let job = recording.jobs[index]
        guard let started = recording.start(of: index), let submitter = job.submitter,
            threads.isNested[index], threads.isNested[submitter],
            recording.lanes[recording.jobs[submitter].lane].clock
                == recording.lanes[job.lane].clock
        else { return nil }
        let left = recording.since(job.facts.enqueued, index)
        let start = recording.start(of: submitter) ?? left
        let last = recording.end(of: submitter)
        let isInside =
            recording.jobs[submitter].facts.thread == job.facts.thread
            && recording.end(of: index) <= last && (started < last || start == last)
        // A hand-made report may claim any instant.
        guard start <= left, left <= last, !isInside else { return nil }
        return Hop(job: index, submitter: submitter, left: left)
    }
}
