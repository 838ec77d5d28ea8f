internal import ExecutionContexts

/// The unfinished jobs of a watch, and their alarm; under the monitor's lock.
///
/// Each cause is reported once. Each job that runs for too long is a cause. The jobs that wait for
/// too long share one, from the first of them until none is left. Where one job runs at a time, the
/// cause is that job, if it was reported. If it was not, but has run for half the limit, the report
/// of the first waiting job names it, and it is not reported itself.
///
/// The limit is the same for all, so waiting jobs are in the order of their deadlines, and so are
/// running ones. The alarm is never later than the first deadline:
///
/// | alarm | next | by |
/// |---|---|---|
/// | none | being set | a job begins to wait or to run |
/// | being set | set | the thread that sets it, which schedules outside of the lock |
/// | being set, set | none, being set | it fires: due jobs are settled, and the next is awaited |
/// | being set, set | none | all remaining jobs are settled, and the watch is thrifty |
///
/// A thrifty watch has no alarm while each of its jobs is settled. In system time a watch is
/// thrifty only once its view is gone: to set and cancel an alarm costs more than the watched job.
/// Any other time is virtual, and there the driver sees pending delays.
struct WatchedJobs {
    /// An alarm that the caller must set.
    struct Alarm {
        let number: Int
        let deadline: ContextInstant
    }

    /// A report to make.
    struct Stall {
        let phase: StalledJob.Phase
        let job: WatchedJobList.Entry
        /// For a waiting job, the one that has run for the longest time.
        let front: WatchedJobList.Entry?
        let waiting: Int
    }

    private enum AlarmState {
        case none
        case beingSet
        case set(DelayedWork)
    }

    private let limit: Duration
    /// Whether at most one job runs at a time, for which the others wait.
    private let isSerial: Bool
    private var isThrifty: Bool
    private var waiting = WatchedJobList()
    private var running = WatchedJobList()
    private var alarm = AlarmState.none
    /// Numbers the alarms, so that a late one is not mistaken for its successor.
    private var number = 0

    init(limit: Duration, isSerial: Bool, isThrifty: Bool) {
        self.limit = limit
        self.isSerial = isSerial
        self.isThrifty = isThrifty
    }

    /// Whether there is no job and no alarm.
    var isIdle: Bool {
        guard case .none = alarm else { return false }
        return waiting.isEmpty && running.isEmpty
    }

    /// Whether there is no job for which an alarm is needed.
    private var isAllSettled: Bool { waiting.isAllSettled && running.isAllSettled }

    // MARK: - The life of a job

    mutating func submit(_ job: WatchedJob, _ now: ContextInstant) -> Alarm? {
        waiting.append(job, now)
        return neededAlarm(now)
    }

    mutating func start(_ job: WatchedJob, _ now: ContextInstant) -> Alarm? {
        // A second run of one job is not watched.
        guard job.begin() else { return nil }
        waiting.remove(job)
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

    /// Removes an alarm that a thrifty watch does not need.
    private mutating func takeNeedless() -> DelayedWork? {
        guard isThrifty, isAllSettled, case .set(let delay) = alarm else { return nil }
        alarm = .none
        return delay
    }

    /// Stores the alarm that was set, or returns it if it is no longer needed.
    mutating func didSet(_ number: Int, _ delay: DelayedWork) -> DelayedWork? {
        // It may have fired already.
        guard number == self.number, case .beingSet = alarm else { return nil }
        alarm = .set(delay)
        return takeNeedless()
    }

    /// Returns the reports of the jobs whose limit has passed, and the next alarm.
    mutating func fire(_ number: Int, _ now: ContextInstant) -> (due: [Stall], next: Alarm?) {
        guard number == self.number else { return ([], nil) }
        var due: [Stall] = []
        // Running jobs come first: they may be the reason why the others wait.
        while let job = running.firstUnsettled, job.since.advanced(by: limit) <= now {
            running.settleFirst()
            due.append(Stall(phase: .running, job: job, front: nil, waiting: waiting.count))
        }
        while let job = waiting.firstUnsettled, job.since.advanced(by: limit) <= now {
            let isKnown = waiting.settledCount > 0 || isSerial && running.settledCount > 0
            waiting.settleFirst()
            if isKnown { continue }
            let front = running.first
            due.append(Stall(phase: .waiting, job: job, front: front, waiting: waiting.count))
            if isSerial, let front, front.since.advanced(by: limit / 2) <= now {
                running.settleFirst()
            }
        }
        alarm = .none
        let next = [waiting.firstUnsettled, running.firstUnsettled].compactMap { $0?.since }.min()
        return (due, next.flatMap { neededAlarm($0) })
    }
}
