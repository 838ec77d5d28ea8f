internal import Synchronization

/// The completion guard of an observed job: it runs and ends, or is dropped.
final class ObservedJob: Sendable {
    private let job: ObservedWork
    private let observer: any ContextObserver
    private let time: any TimeSource
    private let hasStarted = Atomic<Bool>(false)

    init(_ job: ObservedWork, in time: any TimeSource, observer: any ContextObserver) {
        self.job = job
        self.time = time
        self.observer = observer
        observer.enqueued(job)
    }

    // The job was dropped. Relaxed: the last release of this object comes after all others.
    deinit {
        guard !hasStarted.load(ordering: .relaxed) else { return }
        observer.abandoned(job, waited: job.enqueued.duration(to: time.now))
    }

    /// Runs `body` as this job: what it submits has this job as its submitter.
    func run<Value, Failure: Error>(_ body: () throws(Failure) -> Value) throws(Failure) -> Value {
        let start = started()
        // Retained by hand, since `running` reads it from the frame: a lifetime that lasts to the
        // end of a scope ends early if `body` does not return.
        let retained = unsafe Unmanaged.passRetained(self)
        defer {
            ended(start)
            unsafe retained.release()
        }
        return try unsafe Frame.enter(Frame.owner(self), note: Self.note) { () throws(Failure) in
            try body()
        }
    }

    func started() -> ContextInstant {
        let now = time.now
        hasStarted.store(true, ordering: .relaxed)
        observer.started(job, waited: job.enqueued.duration(to: now))
        return now
    }

    func ended(_ start: ContextInstant) {
        observer.finished(
            job, waited: job.enqueued.duration(to: start), ran: start.duration(to: time.now))
    }

    /// Marks the frames of observed jobs; `DrainContinuation` has the notes 1 and 2.
    private static let note = 3

    /// The observed job that runs on this thread; the innermost if several do.
    static var running: ObservedWork.Identity? {
        guard let owner = unsafe Frame.owner(noting: note) else { return nil }
        // A frame is on the stack only while its job runs, and `run` has retained that job.
        return unsafe Unmanaged<ObservedJob>.fromOpaque(owner).takeUnretainedValue().job.identity
    }
}

/// Numbers an observed view and its jobs.
final class ObservedNumbers: Sendable {
    private static let views = Atomic<UInt64>(0)
    private let last = Atomic<UInt64>(0)

    // Relaxed: the numbers order nothing, they only differ.
    let view = views.add(1, ordering: .relaxed).newValue

    func next() -> UInt64 { last.add(1, ordering: .relaxed).newValue }
}
