internal import Synchronization

/// What is common to the jobs of an observed view, whatever the type of its base.
///
/// Not generic: code in another module that makes a view of an existential would run the generic
/// code unspecialized, at several times the cost.
@safe final class ObservedView: ObservedOrigin, @unchecked Sendable {
    // Unchecked because its superclass is; it adds constants and an atomic.
    private let base: any ExecutionContext
    /// The label of the base, if it adds one: it would do so behind this view.
    let label: String?
    private let reports: JobReports
    /// `reports`, without a retain for each use. This object keeps it, and each job keeps this
    /// object.
    let unretained: Unmanaged<JobReports>
    private let last = Atomic<UInt64>(0)

    init(of base: some ExecutionContext, by observer: some ContextObserver) {
        self.base = base
        label = (base as? any LabelingContext)?.label
        reports = .to(observer)
        unsafe unretained = .passUnretained(reports)
        super.init(base.name)
        JobSource.addReader()
    }

    deinit { JobSource.removeReader() }

    /// Whether a job that is submitted now is reported.
    var isEnabled: Bool { unsafe unretained._withUnsafeGuaranteedRef { $0.isEnabled } }

    /// The number of the next job, and of the jobs that then wait. Relaxed: the numbers order
    /// nothing, they only differ. Without an order a job that came later may have begun already.
    func next() -> (number: UInt64, depth: Int) {
        let number = last.add(1, ordering: .relaxed).newValue
        let begun = begunCount
        return (number, number > begun ? Int(truncatingIfNeeded: number - begun) : 1)
    }

    /// Begins a job that the caller runs itself.
    func begin(_ source: JobSource) -> ObservedJob {
        ObservedJob(of: self, in: base.time, source)
    }

    /// Returns `work` with reports around it; `work` itself if the observer is not enabled.
    @inline(__always)
    func decorate(_ work: consuming @escaping Work) -> Work {
        guard isEnabled else { return work }
        return SourcedJob.work(ObservedClosure(of: self, in: base.time, consume work))
    }

    func execute(_ work: consuming @escaping Work) {
        // Unmanaged, so that this frame holds no reference when the base runs the work (law 10).
        let decorated = UnmanagedWork(decorate(consume work))
        base.execute(decorated.assembled())
    }

    func enqueue(_ work: consuming @escaping Work) {
        let decorated = UnmanagedWork(decorate(consume work))
        base.enqueue(decorated.assembled())
    }
}
