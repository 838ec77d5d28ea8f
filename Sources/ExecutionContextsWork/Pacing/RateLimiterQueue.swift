internal import ExecutionContexts

/// A job that waits for a token.
struct RateLimitedJob: Sendable {
    /// Nil once the job has begun or was removed.
    private var work: Work?
    /// Notifies the submitter if the job never begins; nil if it is not needed.
    private var dropped: (@Sendable (any Error) -> Void)?
    /// Where the job reads the number of its token; nil if it does not.
    private var token: TakenToken?
    fileprivate var number = 0
    /// The number of its token, once it has begun.
    fileprivate(set) var tokenNumber: UInt64 = 0

    init(
        _ work: consuming @escaping Work, token: TakenToken? = nil,
        dropped: (@Sendable (any Error) -> Void)?
    ) {
        self.work = consume work
        self.token = token
        self.dropped = dropped
    }

    private init(number: Int) { self.number = number }

    /// Where the job comes from.
    var source: JobSource { if let work { JobSource(of: work) } else { .unknown } }

    /// Whether the submitter is notified if the job never begins.
    var isAwaited: Bool { dropped != nil }

    fileprivate var isEmpty: Bool { work == nil }

    /// Moves the job out, and leaves an empty one with its number.
    fileprivate mutating func take() -> RateLimitedJob {
        var taken = RateLimitedJob(number: number)
        swap(&self, &taken)
        return taken
    }

    mutating func run() {
        dropped = nil
        token?.number = tokenNumber
        work.take()?()
    }

    /// Called for a job that never begins: frees its captures, then notifies the submitter.
    mutating func drop(_ error: any Error) {
        work = nil
        dropped.take()?(error)
    }
}

/// The number of the token of a job that may give it back.
final class TakenToken: @unchecked Sendable {
    // Unchecked: the thread that runs the job writes the number, and the job reads it.
    fileprivate(set) var number: UInt64 = 0
}

/// The waiting jobs in order, the pending serving jobs and the alarm. It is used under the
/// limiter's lock.
///
/// The jobs are in an array, in the order of their numbers. A cancelled job leaves an empty one in
/// its place. Empty ones at the front are skipped, and when most are empty, they are removed.
struct RateLimiterQueue {
    private var jobs: [RateLimitedJob] = []
    /// The index of the first job that waits, or the end.
    private var start = 0
    private var lastNumber = 0
    private(set) var count = 0
    private var bucket: RateLimiterBucket
    /// How many serving jobs were submitted and have not run.
    private var servingJobs = 0
    private var alarm: Alarm?

    init(_ bucket: RateLimiterBucket) { self.bucket = bucket }

    /// What the caller performs after unlocking.
    enum Effect {
        case nothing
        /// A job could begin now, and no serving job is pending.
        case submitServingJob
        case set(Alarm, ContextInstant)
        /// No job is waiting.
        case cancel(Alarm)
    }

    /// Moves a job to the end, and returns its number. Its submitter submits a serving job.
    mutating func append(_ job: inout RateLimitedJob) -> Int {
        lastNumber += 1
        job.number = lastNumber
        jobs.append(job.take())
        count += 1
        servingJobs += 1
        return lastNumber
    }

    /// Removes the job with a number; nil if it does not wait any more.
    mutating func remove(_ number: Int) -> RateLimitedJob? {
        var (low, high) = (start, jobs.count)
        while low < high {
            let middle = (low + high) / 2
            if jobs[middle].number < number { low = middle + 1 } else { high = middle }
        }
        guard low < jobs.count, jobs[low].number == number, !jobs[low].isEmpty else { return nil }
        return take(low)
    }

    private mutating func take(_ index: Int) -> RateLimitedJob {
        let job = jobs[index].take()
        count -= 1
        if count == 0 {
            jobs.removeAll(keepingCapacity: jobs.count <= 1024)
            start = 0
        } else {
            while jobs[start].isEmpty { start += 1 }
            // As many as are left, so each job is moved a few times at most.
            if jobs.count > 64, jobs.count > 2 * count {
                jobs.removeAll { $0.isEmpty }
                start = 0
            }
        }
        return job
    }

    /// Counts a serving job that has run, or that never will.
    mutating func endServingJob() { servingJobs -= 1 }

    /// Clears the alarm if it is the latest one; false if it is not.
    mutating func end(_ alarm: Alarm) -> Bool {
        guard self.alarm === alarm else { return false }
        self.alarm = nil
        return true
    }

    /// Removes and returns the first job, if there is one and a token for it.
    mutating func begin(at now: ContextInstant) -> RateLimitedJob? {
        guard count > 0, bucket.next(at: now) <= now else { return nil }
        bucket.take(at: now)
        var job = take(start)
        job.tokenNumber = bucket.lastTake
        return job
    }

    /// Puts back the token with a number; returns the alarm that is now too late.
    mutating func giveBack(_ take: UInt64) -> Alarm? {
        bucket.giveBack(take)
        return alarm.take()
    }

    /// Removes and returns all jobs.
    mutating func takeAll() -> [RateLimitedJob] {
        var all: [RateLimitedJob] = []
        while count > 0 { all.append(take(start)) }
        return all
    }

    /// Whether there is nothing to arrange after a serving job: another one, which arranges, is
    /// pending, or no job waits.
    ///
    /// An alarm that is pending then is late, since a token was available before it fired, and
    /// finds nothing to do.
    var isArranged: Bool { servingJobs > 0 || count == 0 }

    /// The effect that the waiting jobs need to begin in time. Call it after each change.
    mutating func arrange(at now: ContextInstant, in section: CriticalSection) -> Effect {
        guard count > 0 else { return alarm.take().map { .cancel($0) } ?? .nothing }
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
