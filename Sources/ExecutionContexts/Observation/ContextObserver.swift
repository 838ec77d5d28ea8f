/// Receives what happens to the jobs of a context: see `observed(by:)`.
///
/// - The calls for one job come in order. Those for different jobs come from several threads at a
///   time.
/// - They are made without a lock held (law 9). The job waits while they last, so return quickly.
/// - A job that its context refuses or drops is enqueued and abandoned, and never started.
public protocol ContextObserver: Sendable {
    /// Whether the observer wants reports; read once for each job, when it is submitted.
    ///
    /// A job that is submitted while it is false is not reported, and costs next to nothing. The
    /// default is true.
    var isEnabled: Bool { get }

    /// A job was submitted. Called on the submitter.
    func enqueued(_ job: ObservedWork)

    /// A job is about to run. Called on its context.
    func started(_ job: ObservedWork, waited: Duration)

    /// A job has run. Called on its context.
    func finished(_ job: ObservedWork, waited: Duration, ran: Duration)

    /// A job's body threw an error. Called in place of `finished`, which the default calls.
    ///
    /// It is the error of a body of `run`, `submit`, `sync` or `syncBarrier` that was given to the
    /// observed view, or to a view of it without its own queue. Other jobs have no outcome: those
    /// of `execute`, delays, callbacks, and the parts of a task, whose error belongs to the task. A
    /// job that runs inline inside of such a job is a part of it, and so is its error.
    func failed(_ job: ObservedWork, waited: Duration, ran: Duration, error: any Error)

    /// A job will never run: it was refused or dropped. Called wherever its context released it.
    func abandoned(_ job: ObservedWork, waited: Duration)
}

extension ContextObserver {
    public var isEnabled: Bool { true }
    public func enqueued(_ job: ObservedWork) {}
    public func started(_ job: ObservedWork, waited: Duration) {}
    public func failed(_ job: ObservedWork, waited: Duration, ran: Duration, error: any Error) {
        finished(job, waited: waited, ran: ran)
    }
    public func abandoned(_ job: ObservedWork, waited: Duration) {}
}

/// What observed jobs report to. A class, not a protocol: a job calls it three times, and would
/// retain an existential for each call.
class JobReports: @unchecked Sendable {
    // Unchecked because it can be inherited from; it adds nothing.

    static func to(_ observer: some ContextObserver) -> JobReports {
        guard let observer = observer as? any JobObserver else { return DurationReports(observer) }
        return to(jobObserver: observer)
    }

    private static func to(jobObserver: some JobObserver) -> JobReports {
        InstantReports(jobObserver)
    }

    var isEnabled: Bool { false }
    func enqueued(_ job: ObservedJob) {}
    func started(_ job: ObservedJob, at instant: ContextInstant) {}
    func ended(
        _ job: ObservedJob, started: ContextInstant, at instant: ContextInstant,
        _ error: (any Error)?
    ) {}
    func abandoned(_ job: ObservedJob, at instant: ContextInstant) {}
}

/// Reports to an observer of a user.
private class DurationReports<Observer: ContextObserver>: JobReports, @unchecked Sendable {
    // Unchecked because its superclass is; it adds a constant.
    final let observer: Observer

    init(_ observer: Observer) { self.observer = observer }

    override final var isEnabled: Bool { observer.isEnabled }

    override func enqueued(_ job: ObservedJob) { observer.enqueued(job.work) }

    override func started(_ job: ObservedJob, at instant: ContextInstant) {
        observer.started(job.work, waited: job.work.enqueued.duration(to: instant))
    }

    override func ended(
        _ job: ObservedJob, started: ContextInstant, at instant: ContextInstant,
        _ error: (any Error)?
    ) {
        let waited = job.work.enqueued.duration(to: started)
        let ran = started.duration(to: instant)
        guard let error else { return observer.finished(job.work, waited: waited, ran: ran) }
        observer.failed(job.work, waited: waited, ran: ran, error: error)
    }

    override func abandoned(_ job: ObservedJob, at instant: ContextInstant) {
        observer.abandoned(job.work, waited: job.work.enqueued.duration(to: instant))
    }
}

/// Reports to an observer that computes with instants.
private final class InstantReports<Observer: JobObserver>: DurationReports<Observer>,
    @unchecked Sendable
{
    // Unchecked because its superclass is; it adds nothing.

    override func enqueued(_ job: ObservedJob) { observer.enqueued(job) }

    override func started(_ job: ObservedJob, at instant: ContextInstant) {
        observer.started(job, at: instant)
    }

    override func ended(
        _ job: ObservedJob, started: ContextInstant, at instant: ContextInstant,
        _ error: (any Error)?
    ) { observer.finished(job, started: started, at: instant) }

    override func abandoned(_ job: ObservedJob, at instant: ContextInstant) {
        observer.abandoned(job, at: instant)
    }
}
