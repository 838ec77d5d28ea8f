internal import ExecutionContexts
internal import Synchronization

/// Reports the stalls of one view.
final class StallMonitor: Sendable {
    let limit: Duration
    private let report: @Sendable (StalledJob) -> Void
    /// Schedules `work` on the reporting context, for when the limit has passed in `time`.
    private let schedule: @Sendable (_ time: any TimeSource, _ work: @escaping Work) -> DelayedWork
    private let last = Atomic<UInt64>(0)

    init(
        of name: String, limit: Duration, on reporting: some ExecutionContext,
        from location: (fileID: StaticString, line: UInt),
        report: @escaping @Sendable (StalledJob) -> Void
    ) {
        require(
            limit > .zero,
            "A watched view of '\(name)' with a limit of \(limit) would report every job at once. "
                + "Pass a limit above zero.")
        self.limit = limit
        self.report = report
        schedule = { time, work in
            Retimed(base: reporting, time: time).schedule(
                after: limit, fileID: location.fileID, line: location.line, work)
        }
    }

    func begin(in context: String, by time: any TimeSource) -> WatchedGuard {
        // Relaxed: the numbers order nothing.
        WatchedGuard(self, WatchedJob(last.add(1, ordering: .relaxed).newValue, context, time))
    }

    /// Sets the alarm of a job. It keeps the facts of the report, and nothing of the closure.
    func alarm(_ job: WatchedJob, _ phase: StalledJob.Phase, since: ContextInstant) -> DelayedWork {
        schedule(job.time) { [self] in
            guard job.markReported(in: phase) else { return }
            report(
                StalledJob(
                    phase: phase, job: job.number, context: job.context,
                    lasted: since.duration(to: job.time.now), limit: limit))
        }
    }
}

/// A context in the time of another one: reports run on `base`, and are due by `time`.
///
/// Not generic, so that the type of its delays is known statically: a look-up of that type costs as
/// much as the rest.
private struct Retimed: ExecutionContext {
    let base: any ExecutionContext
    let time: any TimeSource

    func execute(_ work: consuming @escaping Work) { base.execute(consume work) }

    func enqueue(_ work: consuming @escaping Work) { base.enqueue(consume work) }

    var submissionTransform: (@Sendable (_ work: @escaping Work) -> Work)? {
        base.submissionTransform
    }

    var name: String { base.name }
}

/// What a watched job and its alarms share.
///
/// | state | next | by |
/// |---|---|---|
/// | `waiting` | `running` | the start of the job |
/// | `waiting` | `reported` | the alarm for waiting |
/// | `running` | `over` | the end of the job |
/// | `running` | `reported` | the alarm for running |
final class WatchedJob: Sendable {
    let number: UInt64
    let context: String
    let time: any TimeSource
    private let state = Atomic<UInt8>(State.waiting)

    private enum State {
        static let waiting: UInt8 = 0, running: UInt8 = 1, over: UInt8 = 2, reported: UInt8 = 3
    }

    init(_ number: UInt64, _ context: String, _ time: any TimeSource) {
        self.number = number
        self.context = context
        self.time = time
    }

    /// Returns true once, and only while the job is in that phase.
    func markReported(in phase: StalledJob.Phase) -> Bool {
        exchange(phase == .waiting ? State.waiting : State.running, State.reported)
    }

    /// Returns false if the job has been reported, and so is not to be reported again.
    func start() -> Bool { exchange(State.waiting, State.running) }

    func end() { _ = exchange(State.running, State.over) }

    // Relaxed: only that one caller succeeds matters; a report hands no memory over.
    private func exchange(_ old: UInt8, _ new: UInt8) -> Bool {
        SimulationHooks.point()
        return state.compareExchange(expected: old, desired: new, ordering: .relaxed).exchanged
    }
}

/// A watched job as its closure holds it: when the context drops the closure, the alarms end too.
final class WatchedGuard: Sendable {
    private let monitor: StallMonitor
    private let job: WatchedJob
    /// Reports the job if it waits for too long.
    private let alarm: DelayedWork

    init(_ monitor: StallMonitor, _ job: WatchedJob) {
        self.monitor = monitor
        self.job = job
        alarm = monitor.alarm(job, .waiting, since: job.time.now)
    }

    // After a run the alarm is cancelled already, and this does nothing.
    deinit { alarm.cancel() }

    func run<Value, Failure: Error>(_ body: () throws(Failure) -> Value) throws(Failure) -> Value {
        let runAlarm = started()
        defer { ended(runAlarm) }
        return try body()
    }

    /// Marks the start of the job and sets the alarm that reports it if it runs for too long.
    func started() -> DelayedWork? {
        let mayReport = job.start()
        alarm.cancel()
        return mayReport ? monitor.alarm(job, .running, since: job.time.now) : nil
    }

    func ended(_ runAlarm: DelayedWork?) {
        job.end()
        runAlarm?.cancel()
    }
}
