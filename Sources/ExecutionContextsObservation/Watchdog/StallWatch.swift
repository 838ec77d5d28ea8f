internal import ExecutionContexts

/// Watches the jobs of one view in one time, with one alarm for all of them.
final class StallWatch: @unchecked Sendable {
    // Unchecked, also at run time: accessed in `update` only, under the monitor's lock.
    @exclusivity(unchecked) private var jobs: WatchedJobs
    let time: any TimeSource
    let isSystemTimed: Bool
    private let monitor: StallMonitor

    init(_ monitor: StallMonitor, _ time: any TimeSource) {
        self.monitor = monitor
        self.time = time
        isSystemTimed = time === SystemTime.shared
        unsafe jobs = WatchedJobs(
            limit: monitor.limit, isSerial: monitor.isSerial, isThrifty: !isSystemTimed)
    }

    /// The number of the next job.
    func next() -> UInt64 { monitor.next() }

    /// Whether it has no job and no alarm; the caller has the lock.
    var isIdle: Bool { unsafe jobs.isIdle }

    private var now: ContextInstant { isSystemTimed ? SystemTime.now : time.now }

    func didSubmit(_ job: WatchedJob) {
        let now = now
        set(update { $0.submit(job, now) })
    }

    func didStart(_ job: WatchedJob) {
        let now = now
        set(update { $0.start(job, now) })
    }

    /// The job has ended, or was dropped.
    func didEnd(_ job: WatchedJob) { update { $0.end(job) }?.cancel() }

    /// The view was released: no more jobs will be submitted.
    func retire() { update { $0.retire() }?.cancel() }

    /// Schedules outside of the lock, since the time source may be user code (law 9).
    @inline(__always)
    private func set(_ alarm: WatchedJobs.Alarm?) {
        if let alarm { schedule(alarm) }
    }

    @inline(never)
    private func schedule(_ alarm: WatchedJobs.Alarm) {
        let delay = monitor.schedule(time, alarm.deadline) { self.fire(alarm.number) }
        update { $0.didSet(alarm.number, delay) }?.cancel()
    }

    /// Runs on the reporting context, when the limit of the first unsettled job has passed.
    private func fire(_ number: Int) {
        let now = now
        let (due, next) = update { $0.fire(number, now) }
        set(next)
        for stall in due {
            monitor.report(
                StalledJob(
                    phase: stall.phase, job: stall.job.number, source: stall.job.source,
                    context: monitor.context, lasted: stall.job.since.duration(to: now),
                    limit: monitor.limit, front: stall.front.map { StalledJob.Front($0, now) },
                    waiting: stall.waiting))
        }
    }

    private func update<Result>(_ change: (inout WatchedJobs) -> Result) -> Result {
        var result: Result?
        monitor.lock.withLock { result = unsafe change(&jobs) }
        return result!
    }
}
