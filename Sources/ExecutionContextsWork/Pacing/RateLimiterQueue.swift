internal import ExecutionContexts

/// A job that waits for a token.
final class RateLimitedJob: @unchecked Sendable {
    // Unchecked: the links and `isWaiting` are accessed inside the limiter's section. `work` and
    // `dropped` belong to the thread that removed the job from the queue there.
    fileprivate(set) var next: RateLimitedJob?
    fileprivate(set) var previous: RateLimitedJob?
    fileprivate(set) var isWaiting = false
    private var work: Work?
    private var dropped: (@Sendable (any Error) -> Void)?
    /// Whether the submitter is notified if the job never begins.
    let isAwaited: Bool

    init(_ work: @escaping Work, dropped: (@Sendable (any Error) -> Void)?) {
        self.work = work
        self.dropped = dropped
        isAwaited = dropped != nil
    }

    func run() {
        dropped = nil
        work.take()?()
    }

    /// Called for a job that never begins: frees its captures, then notifies the submitter.
    func drop(_ error: any Error) {
        work = nil
        dropped.take()?(error)
    }
}

/// The waiting jobs in order, the pending serving jobs and the alarm. It is used under the
/// limiter's lock.
///
/// The jobs are linked, since a cancelled one leaves from any position.
struct RateLimiterQueue {
    private var first: RateLimitedJob?
    private var last: RateLimitedJob?
    private(set) var count = 0
    private var bucket: RateLimiterBucket
    /// How many serving jobs the context has been given that have not run.
    private var servingJobs = 0
    private var alarm: Alarm?

    init(_ bucket: RateLimiterBucket) { self.bucket = bucket }

    /// What the caller performs after unlocking.
    enum Effect {
        case nothing
        /// A job could begin now, and no serving job is pending.
        case submitServingJob
        case set(Alarm, ContextInstant)
        /// No job waits any more.
        case cancel(Alarm)
    }

    /// Appends a job. Its submitter submits a serving job.
    mutating func append(_ job: RateLimitedJob) {
        job.previous = last
        if let last { last.next = job } else { first = job }
        last = job
        job.isWaiting = true
        count += 1
        servingJobs += 1
    }

    /// Removes a job at any position; false if it is not in the queue.
    mutating func remove(_ job: RateLimitedJob) -> Bool {
        guard job.isWaiting else { return false }
        if let previous = job.previous { previous.next = job.next } else { first = job.next }
        if let next = job.next { next.previous = job.previous } else { last = job.previous }
        job.next = nil
        job.previous = nil
        job.isWaiting = false
        count -= 1
        return true
    }

    /// Counts a serving job that has run, or that never will.
    mutating func endServingJob() { servingJobs -= 1 }

    /// Clears the alarm if it is the one that was set last; false if it is not.
    mutating func end(_ alarm: Alarm) -> Bool {
        guard self.alarm === alarm else { return false }
        self.alarm = nil
        return true
    }

    /// Removes and returns the first job, if there is one and a token for it.
    mutating func begin(at now: ContextInstant) -> RateLimitedJob? {
        guard let job = first, bucket.next(at: now) <= now else { return nil }
        bucket.take(at: now)
        _ = remove(job)
        return job
    }

    /// Removes and returns all jobs.
    mutating func takeAll() -> [RateLimitedJob] {
        var all: [RateLimitedJob] = []
        while let job = first {
            _ = remove(job)
            all.append(job)
        }
        return all
    }

    /// Whether nothing has to be arranged after a serving job: another one, which arranges, is
    /// pending, or no job waits.
    ///
    /// An alarm that is pending then is late, since a token was available before it fired, and
    /// finds nothing to do.
    var isArranged: Bool { servingJobs > 0 || first == nil }

    /// What the waiting jobs lack to begin in time. Call it after each change.
    mutating func arrange(at now: ContextInstant, in section: CriticalSection) -> Effect {
        guard first != nil else { return alarm.take().map { .cancel($0) } ?? .nothing }
        if servingJobs > 0 || alarm != nil { return .nothing }
        let instant = bucket.next(at: now)
        if instant <= now {
            servingJobs += 1
            return .submitServingJob
        }
        let alarm = Alarm(in: section)
        self.alarm = alarm
        return .set(alarm, instant)
    }
}
