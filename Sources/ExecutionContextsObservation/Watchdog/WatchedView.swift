internal import ExecutionContexts

/// The state shared by the jobs of a watched view, independent of the type of its base.
///
/// Not generic, like `ObservedView` and for its reason.
final class WatchedView: @unchecked Sendable {
    // Unchecked: `others` is accessed under the monitor's lock only.
    private let base: any ExecutionContext
    /// The label of the base, if it adds one: it would add it after this view.
    private let label: String?
    /// Whether the base may be a view that also reads the sources of jobs.
    private let isOverView: Bool
    private let isSystemTimed: Bool
    private let monitor: StallMonitor
    /// The watch for the time that the base had when the view was created.
    private let usual: StallWatch
    /// The watches for other times: a context may have another time in each simulation.
    private var others: [StallWatch] = []

    init(of base: some ExecutionContext, by monitor: StallMonitor) {
        let facts = base.facts
        self.base = base
        label = facts.label
        isOverView = facts.view != nil
        isSystemTimed = facts.hasSystemTime
        self.monitor = monitor
        usual = StallWatch(monitor, base.time)
        JobSource.addReader()
    }

    // No thread uses the view any more, so this needs no lock.
    deinit {
        JobSource.removeReader()
        for watch in others + [usual] { watch.retire() }
    }

    func begin(_ source: JobSource) -> WatchedJob {
        let job = WatchedJob(watch, labeled(source))
        job.didSubmit()
        return job
    }

    func decorate(_ work: consuming @escaping Work) -> Work {
        let work = UnmanagedWork(consume work)
        let source = labeled(JobSource(of: work))
        let job = WatchedClosure(watch, source, work.assembled())
        job.didSubmit()
        // Two closures: a closure shared by both cases would be retained once more.
        if isOverView { return JobSource.carry(source, { job.run() }) }
        return { job.run() }
    }

    private func labeled(_ source: JobSource) -> JobSource {
        label.map { source.labeled($0) } ?? source
    }

    /// The watch for a job that is submitted now.
    private var watch: StallWatch {
        if isSystemTimed && !SimulationHooks.isAnywhere && usual.isSystemTimed { return usual }
        let time = base.time
        return time === usual.time ? usual : otherWatch(time)
    }

    private func otherWatch(_ time: any TimeSource) -> StallWatch {
        let fresh = StallWatch(monitor, time)
        var found = fresh
        // Freed outside of the lock.
        var idle: [StallWatch] = []
        monitor.lock.withLock {
            if let known = others.first(where: { $0.time === time }) {
                found = known
            } else {
                idle = others.filter(\.isIdle)
                others.removeAll(where: \.isIdle)
                others.append(fresh)
            }
        }
        return withExtendedLifetime(idle) { found }
    }
}
