internal import Synchronization

/// The completion guard of an observed job: it runs and ends, or is dropped.
@safe package class ObservedJob: SourcedJob, @unchecked Sendable {
    // Unchecked because it can be inherited from; it has constants and an atomic.
    package final let work: ObservedWork
    private let time: JobTime
    /// Kept by the view, which the origin of `work` keeps, or is.
    private let reports: Unmanaged<JobReports>
    private let hasStarted = Atomic<Bool>(false)

    /// The caller then calls `didSubmit`: in here, it would retain this object.
    @inline(__always)
    init(
        of view: borrowing ObservedView, from origin: consuming ObservedOrigin,
        in time: consuming JobTime, _ place: CodePlace
    ) {
        let (number, depth) = view.next()
        work = ObservedWork(
            number, from: consume origin, at: time.now, of: time.identity(view.systemTime), place,
            depth: depth)
        self.time = consume time
        unsafe reports = view.unretained
        super.init()
    }

    @inline(__always)
    final func didSubmit() { report { $0.enqueued(self) } }

    /// What a view behind this one is told.
    override package final var source: JobSource { work.source }

    // The job was dropped. Relaxed: the last release of this object comes after all others.
    deinit {
        guard !hasStarted.load(ordering: .relaxed) else { return }
        work.origin.began()
        let now = time.now
        report { $0.abandoned(self, at: now) }
    }

    @inline(__always)
    private final func report(_ event: (JobReports) -> Void) {
        unsafe reports._withUnsafeGuaranteedRef(event)
    }

    /// Runs `body` as this job: what it submits has this job as its submitter.
    ///
    /// `answers` says that the end of `body` is that of the job. It is not where a submission
    /// inside of `body` notes the end.
    @inline(__always)
    final func run<Value, Failure: Error>(
        answers: Bool = true, _ body: () throws(Failure) -> Value
    ) throws(Failure) -> Value {
        let start = started()
        // The frame points to the report on this stack, not to this object: a lifetime that lasts
        // to the end of a scope ends early if `body` does not return.
        var report = Frame.Report(view: work.view, job: work.id)
        defer { ended(start, report.error) }
        return try unsafe withUnsafeMutablePointer(to: &report) { (report) throws(Failure) in
            do throws(Failure) {
                let value = try unsafe Frame.enter(
                    Frame.Owner(report), note: Frame.reported, body)
                if answers { unsafe report.pointee.error = nil }
                return value
            } catch {
                unsafe report.pointee.error = error
                throw error
            }
        }
    }

    final func started() -> ContextInstant {
        work.origin.began()
        let now = time.now
        hasStarted.store(true, ordering: .relaxed)
        report { $0.started(self, at: now) }
        return now
    }

    final func ended(_ start: ContextInstant, _ error: consuming (any Error)? = nil) {
        let now = time.now
        guard let error else { return report { $0.finished(self, started: start, at: now) } }
        report { $0.failed(self, started: start, at: now, error: error) }
    }

    /// The observed job that runs on this thread; the innermost if several do.
    static var running: ObservedWork.Identity? {
        guard let owner = unsafe Frame.owner(noting: Frame.reported) else { return nil }
        // A frame is on the stack only while its job runs, and so is the report beside it.
        let report = unsafe owner.assumingMemoryBound(to: Frame.Report.self)
        return unsafe ObservedWork.Identity(view: report.pointee.view, job: report.pointee.job)
    }
}

/// An observed job that a context is given to run.
final class ObservedClosure: ObservedJob, @unchecked Sendable {
    // Unchecked because its superclass is; it adds a constant.
    private let closure: OwnedWork

    /// Adopts `closure`.
    @inline(__always)
    init(
        of view: borrowing ObservedView, from origin: consuming ObservedOrigin,
        in time: consuming JobTime, _ place: CodePlace, _ closure: UnmanagedWork
    ) {
        self.closure = OwnedWork(closure)
        super.init(of: view, from: consume origin, in: consume time, place)
    }

    override package func run() { run(answers: false) { closure.run() } }
}
