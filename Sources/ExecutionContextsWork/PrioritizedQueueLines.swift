internal import ExecutionContexts

/// What waits, a line for each priority, and how many are at work: the state of a queue, for under its lock.
///
/// It runs nothing. The lines are linked through the jobs themselves, so any of them leaves or moves in no time.
struct PrioritizedQueueLines {
    private struct Line {
        var first: QueuedJob?
        var last: QueuedJob?
    }

    private var lines = [Line](repeating: Line(), count: WorkPriority.allCases.count)
    private(set) var pendingCount = 0
    private(set) var runningCount = 0
    var limit: Int
    var isSuspended = false

    init(limit: Int) { self.limit = limit }

    /// Puts a job at the end of the line of its priority.
    mutating func append(_ job: QueuedJob) {
        let line = job.priority.rawValue
        job.previous = lines[line].last
        if let last = lines[line].last { last.next = job } else { lines[line].first = job }
        lines[line].last = job
        pendingCount += 1
    }

    /// Puts a job that waits at the end of another line; in its own it keeps its place.
    mutating func move(_ job: QueuedJob, to priority: WorkPriority) {
        if job.priority == priority { return }
        unlink(job)
        job.priority = priority
        append(job)
    }

    /// Takes out a job that waits and will never start.
    mutating func withdraw(_ job: QueuedJob) {
        unlink(job)
        job.phase = .over
    }

    /// Gives a free place to who is next, if there are both.
    mutating func next() -> QueuedJob? {
        guard pendingCount > 0, runningCount < limit, !isSuspended else { return nil }
        guard let job = lines.last(where: { $0.first != nil })?.first else { return nil }
        unlink(job)
        job.phase = .handed
        runningCount += 1
        return job
    }

    /// Frees the place of a job.
    mutating func leave(_ job: QueuedJob) {
        job.phase = .over
        runningCount -= 1
    }

    private mutating func unlink(_ job: QueuedJob) {
        let line = job.priority.rawValue
        if let previous = job.previous { previous.next = job.next } else { lines[line].first = job.next }
        if let next = job.next { next.previous = job.previous } else { lines[line].last = job.previous }
        job.next = nil
        job.previous = nil
        pendingCount -= 1
    }
}
