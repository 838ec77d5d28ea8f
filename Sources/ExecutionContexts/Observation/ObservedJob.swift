internal import Synchronization

/// The completion guard of an observed job: it runs and ends, or is dropped.
@safe package class ObservedJob: @unchecked Sendable {
    // Unchecked because it can be inherited from; it has constants and an atomic.
    package final let work: ObservedWork
    private let time: any TimeSource
    /// Kept by the view, which is the origin of `work`.
    private let reports: Unmanaged<JobReports>
    private let hasStarted = Atomic<Bool>(false)

    init(of view: ObservedView, in time: consuming any TimeSource) {
        work = ObservedWork(view.next(), from: view, by: time)
        self.time = consume time
        unsafe reports = view.unretained
        report { $0.enqueued(self) }
    }

    // The job was dropped. Relaxed: the last release of this object comes after all others.
    deinit {
        guard !hasStarted.load(ordering: .relaxed) else { return }
        let now = time.now
        report { $0.abandoned(self, at: now) }
    }

    @inline(__always)
    private final func report(_ event: (JobReports) -> Void) {
        unsafe reports._withUnsafeGuaranteedRef(event)
    }

    /// Runs `body` as this job: what it submits has this job as its submitter.
    @inline(__always)
    final func run<Value, Failure: Error>(
        _ body: () throws(Failure) -> Value
    ) throws(Failure) -> Value {
        let start = started()
        defer { ended(start) }
        // The frame points to the identity on this stack, not to this object: a lifetime that lasts
        // to the end of a scope ends early if `body` does not return.
        var identity = work.identity
        return try unsafe withUnsafePointer(to: &identity) { (identity) throws(Failure) in
            try unsafe Frame.enter(Frame.Owner(identity), note: Self.note, body)
        }
    }

    final func started() -> ContextInstant {
        let now = time.now
        hasStarted.store(true, ordering: .relaxed)
        report { $0.started(self, at: now) }
        return now
    }

    final func ended(_ start: ContextInstant) {
        let now = time.now
        report { $0.finished(self, started: start, at: now) }
    }

    /// Marks the frames of observed jobs; `DrainContinuation` has the notes 1 and 2.
    private static let note = 3

    /// The observed job that runs on this thread; the innermost if several do.
    static var running: ObservedWork.Identity? {
        guard let owner = unsafe Frame.owner(noting: note) else { return nil }
        // A frame is on the stack only while its job runs, and so is the identity beside it.
        return unsafe owner.load(as: ObservedWork.Identity.self)
    }
}

/// An observed job that a context is given to run.
final class ObservedClosure: ObservedJob, @unchecked Sendable {
    // Unchecked because its superclass is; it adds a constant.
    private let closure: Work

    init(
        of view: ObservedView, in time: consuming any TimeSource,
        _ closure: consuming @escaping Work
    ) {
        self.closure = consume closure
        super.init(of: view, in: consume time)
    }

    func run() { run(closure) }
}
