internal import CPlatform
internal import Synchronization

/// What the jobs of an observed view have in common. Not generic: code in another module would run
/// the generic code unspecialized, at several times the cost.
@safe final class ObservedView: ObservedOrigin, @unchecked Sendable {
    // Unchecked because its superclass is; it adds constants and an atomic.
    private let base: any ExecutionContext
    /// The label of the base, if it adds one: it would do so behind this view.
    private let baseLabel: String?
    private let labelsJobs: Bool
    private let isSystemTimed: Bool
    /// The code of sourced jobs, without a look for it at each use.
    private let sourcedCode = SourcedJob.code
    let systemTime = ObjectIdentifier(SystemTime.shared)
    private let reports: JobReports
    /// `reports`, without a retain for each use: this object keeps it, and each job this object.
    let unretained: Unmanaged<JobReports>
    private let last = Atomic<UInt64>(0)

    init(of base: some ExecutionContext, by observer: some ContextObserver) {
        self.base = base
        baseLabel = base.facts.label
        labelsJobs = baseLabel != nil
        isSystemTimed = base.facts.hasSystemTime
        reports = .to(observer)
        unsafe unretained = .passUnretained(reports)
        super.init(base.name)
        JobSource.addReader()
    }

    deinit { JobSource.removeReader() }

    /// Whether a job that is submitted now is reported.
    var isEnabled: Bool { unsafe unretained._withUnsafeGuaranteedRef { $0.isEnabled } }

    /// The number of the next job, and of the jobs that then wait. Relaxed: numbers only differ.
    /// Without an order a job that came later may have begun already.
    func next() -> (number: UInt64, depth: Int) {
        let number = last.add(1, ordering: .relaxed).newValue
        let begun = begunCount
        return (number, number > begun ? Int(truncatingIfNeeded: number - begun) : 1)
    }

    /// Begins a job that the caller runs itself.
    func begin(_ source: JobSource) -> ObservedJob {
        let job = ObservedJob(of: self, from: origin(of: source), in: time, source.place)
        job.didSubmit()
        return job
    }

    /// The time of a job that is submitted now: a context may have another one in each simulation.
    private var time: JobTime {
        isSystemTimed && !SimulationHooks.isAnywhere ? JobTime() : JobTime(base.time)
    }

    /// The origin of a job: the view itself, unless the job has a label.
    private func origin(of source: JobSource) -> ObservedOrigin {
        guard let label = source.label ?? baseLabel else { return self }
        return ObservedOrigin(labeling: self, label)
    }

    /// Returns `work` with reports around it; `work` itself if the observer is not enabled.
    @inline(__always)
    func decorate(_ work: consuming @escaping Work) -> Work {
        guard isEnabled else { return work }
        let closure = UnmanagedWork(consume work)
        if labelsJobs || closure.words.first == sourcedCode { return decorateSourced(closure) }
        let place = CodePlace(code: closure.words.first)
        let job = ObservedClosure(of: self, from: self, in: time, place, closure)
        job.didSubmit()
        return SourcedJob.work(job)
    }

    // Not inlined, so that the path of a bare closure stays small.
    @inline(never)
    private func decorateSourced(_ closure: UnmanagedWork) -> Work {
        let source = JobSource(of: closure)
        let job = ObservedClosure(
            of: self, from: origin(of: source), in: time, source.place, closure)
        job.didSubmit()
        return SourcedJob.work(job)
    }
}

/// Reports submission, start and end of each job of a view to an observer.
///
/// Its name is not that of a module: `@Observable` names the module `Observation` in the code that
/// it makes.
public struct Observing: HoldableAddition {
    fileprivate let observer: any ContextObserver
    /// Nil until it is attached to a base.
    fileprivate var view: ObservedView?

    public func attached(to base: some ExecutionContext) -> Observing {
        Observing(observer: observer, view: ObservedView(of: base, by: observer))
    }

    public func decorate(_ work: @escaping Work) -> Work {
        guard let view else { return work }
        return view.decorate(work)
    }

    public func name(of base: String) -> String { view?.name ?? base }

    public func sync<Value, Failure: Error>(
        _ body: () throws(Failure) -> Value, on base: some SynchronousContext
    ) throws(Failure) -> Value {
        let source = JobSource.takeOfSync(body)
        guard let view, view.isEnabled else { return try base.sync(body) }
        let job = view.begin(source)
        return try source.passing(to: base) { () throws(Failure) -> Value in
            try base.sync { () throws(Failure) -> Value in try job.run(body) }
        }
    }

    public func hold(_ base: some SynchronousBarrierContext) -> ExclusiveHold {
        guard let view, view.isEnabled else { return base.hold() }
        let job = view.begin(JobSource(.unknown, label: "hold"))
        let hold = base.hold()
        let start = job.started()
        return hold.then { job.ended(start) }
    }

    // For a job that a waiting thread took over, the observer sees an empty job.
    public var runsAnywhere: Bool { true }

    public var facts: AdditionFacts {
        // An observer is notified of the job that an inline job is a part of.
        var facts = AdditionFacts.plain
        facts.readsSource = true
        if let view {
            facts.report = { source, body in
                if view.isEnabled { view.begin(source).run(body) } else { body() }
            }
        }
        return facts
    }
}

extension ContextAddition where Self == Observing {
    /// An observer that is notified of submission, start and end of each job of the context.
    public static func observed(by observer: some ContextObserver) -> Observing {
        Observing(observer: observer)
    }
}

extension ExecutionContext {
    /// Returns a view of this context that reports submission, start and end of each job to
    /// `observer`.
    ///
    /// The waiting time of a job of `sync` is the time from the call until its body begins. Code
    /// that uses the context itself is not observed.
    public func observed(by observer: some ContextObserver) -> ContextView<Self, Observing> {
        with(.observed(by: observer))
    }
}

/// A coordinator with an observer that is notified of the reads and writes made through this value.
///
/// It excludes through the same coordinator. Code that uses that one directly is not observed.
public struct ObservedCoordinator: Sendable {
    /// The coordinator.
    public let coordinator: ReadWriteCoordinator
    /// The reading side as a context, observed: its `run` is a read that blocks no thread.
    public let reading: ContextView<ReadingContext, Observing>
    /// The writing side as a context, observed: its `run` is a write that blocks no thread.
    public let writing: ContextView<WritingContext, Observing>

    /// Runs `body` like the coordinator's `read`.
    public func read<Value, Failure: Error>(
        _ body: () throws(Failure) -> Value
    ) throws(Failure) -> Value { try reading.sync(body) }

    /// Runs `write` later like the coordinator's `enqueueWrite`.
    public func enqueueWrite(_ write: @escaping Work) { writing.execute(write) }

    /// Runs `body` like the coordinator's `blockingWrite`.
    public func blockingWrite<Value, Failure: Error>(
        _ body: () throws(Failure) -> Value
    ) throws(Failure) -> Value { try writing.sync(body) }
}

extension ReadWriteCoordinator {
    /// This coordinator, with an observer that is notified of waiting and running reads and writes.
    public func observed(by observer: some ContextObserver) -> ObservedCoordinator {
        ObservedCoordinator(
            coordinator: self, reading: reading.observed(by: observer),
            writing: writing.observed(by: observer))
    }
}
