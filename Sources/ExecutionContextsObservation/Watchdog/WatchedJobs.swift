internal import ExecutionContexts

/// The unfinished jobs of a watch, and their alarm; under the monitor's lock.
///
/// The limit is the same for all, so the jobs that wait are in the order of their deadlines, and
/// so are those that run. The alarm is never later than the first deadline:
///
/// | alarm | next | by |
/// |---|---|---|
/// | none | being set | a job begins to wait or to run |
/// | being set | set | the thread that sets it, which schedules outside of the lock |
/// | being set, set | none, being set | it fires: due jobs are reported, and the next is awaited |
/// | being set, set | none | no job is left, and the watch is thrifty |
///
/// A thrifty watch has no alarm while it has no job. In system time a watch is thrifty only once
/// its view is gone: to set and cancel an alarm costs more than the watched job. Any other time is
/// virtual, and there its driver sees which delays are left.
struct WatchedJobs {
    /// An alarm that the caller is to set.
    struct Alarm {
        let number: Int
        let deadline: ContextInstant
    }

    /// A job whose limit has passed.
    struct Stall {
        let phase: StalledJob.Phase
        let job: UInt64
        let source: JobSource
        let since: ContextInstant
    }

    private enum AlarmState {
        case none
        case beingSet
        case set(DelayedWork)
    }

    private let limit: Duration
    private var isThrifty: Bool
    private var waiting = WatchedJobList()
    private var running = WatchedJobList()
    private var alarm = AlarmState.none
    /// Counts the alarms: one that fires after its time is not mistaken for a later one.
    private var number = 0

    init(limit: Duration, isThrifty: Bool) {
        self.limit = limit
        self.isThrifty = isThrifty
    }

    /// Whether there is no job and no alarm.
    var isIdle: Bool {
        guard case .none = alarm else { return false }
        return isEmpty
    }

    private var isEmpty: Bool { waiting.isEmpty && running.isEmpty }

    // MARK: - A job's way

    mutating func submit(_ job: WatchedJob, _ now: ContextInstant) -> Alarm? {
        waiting.append(job, now)
        return neededAlarm(now)
    }

    mutating func start(_ job: WatchedJob, _ now: ContextInstant) -> Alarm? {
        // A second run of one job is not watched. A job that was reported while it waited is in no
        // list, and is not reported again.
        guard job.begin(), waiting.remove(job) else { return nil }
        running.append(job, now)
        return neededAlarm(now)
    }

    mutating func end(_ job: WatchedJob) -> DelayedWork? {
        switch job.end() {
        case .waiting: waiting.remove(job)
        case .running: running.remove(job)
        case .over: return nil
        }
        return takeNeedless()
    }

    mutating func retire() -> DelayedWork? {
        isThrifty = true
        return takeNeedless()
    }

    // MARK: - The alarm

    private mutating func neededAlarm(_ since: ContextInstant) -> Alarm? {
        guard case .none = alarm else { return nil }
        alarm = .beingSet
        number += 1
        return Alarm(number: number, deadline: since.advanced(by: limit))
    }

    /// Takes an alarm away that a thrifty watch does not need.
    private mutating func takeNeedless() -> DelayedWork? {
        guard isThrifty, isEmpty, case .set(let delay) = alarm else { return nil }
        alarm = .none
        return delay
    }

    /// Keeps the alarm that was set, or returns it if it is not needed any more.
    mutating func didSet(_ number: Int, _ delay: DelayedWork) -> DelayedWork? {
        // It may have fired already.
        guard number == self.number, case .beingSet = alarm else { return nil }
        alarm = .set(delay)
        return takeNeedless()
    }

    /// Returns the jobs whose limit has passed, in the order of their deadlines, and the next
    /// alarm.
    mutating func fire(_ number: Int, _ now: ContextInstant) -> (due: [Stall], next: Alarm?) {
        guard number == self.number else { return ([], nil) }
        var due: [Stall] = []
        while let (since, job, source) = waiting.first, since.advanced(by: limit) <= now {
            waiting.removeFirst()
            due.append(Stall(phase: .waiting, job: job, source: source, since: since))
        }
        while let (since, job, source) = running.first, since.advanced(by: limit) <= now {
            running.removeFirst()
            due.append(Stall(phase: .running, job: job, source: source, since: since))
        }
        due.sort { ($0.since, $0.job) < ($1.since, $1.job) }
        alarm = .none
        let next = [waiting.first, running.first].compactMap { $0?.since }.min()
        return (due, next.flatMap { neededAlarm($0) })
    }
}
