/// What observed jobs report to.
///
/// A class, not a protocol: a job calls it three times, and an existential would be retained and
/// released for each call.
class JobReports: @unchecked Sendable {
    // Unchecked because it can be inherited from; it adds nothing.

    /// The reports to this observer.
    static func to(_ observer: some ContextObserver) -> JobReports {
        guard let observer = observer as? any JobObserver else { return DurationReports(observer) }
        return to(jobObserver: observer)
    }

    private static func to(jobObserver: some JobObserver) -> JobReports {
        InstantReports(jobObserver)
    }

    /// Whether a job that is submitted now is reported.
    var isEnabled: Bool { false }
    func enqueued(_ job: ObservedJob) {}
    func started(_ job: ObservedJob, at instant: ContextInstant) {}
    func finished(_ job: ObservedJob, started: ContextInstant, at instant: ContextInstant) {}
    func failed(
        _ job: ObservedJob, started: ContextInstant, at instant: ContextInstant, error: any Error
    ) { finished(job, started: started, at: instant) }
    func abandoned(_ job: ObservedJob, at instant: ContextInstant) {}
}

/// Reports to an observer of a user.
private final class DurationReports<Observer: ContextObserver>: JobReports, @unchecked Sendable {
    // Unchecked because its superclass is; it adds a constant.
    private let observer: Observer

    init(_ observer: Observer) { self.observer = observer }

    override var isEnabled: Bool { observer.isEnabled }

    override func enqueued(_ job: ObservedJob) { observer.enqueued(job.work) }

    override func started(_ job: ObservedJob, at instant: ContextInstant) {
        observer.started(job.work, waited: job.work.enqueued.duration(to: instant))
    }

    override func finished(
        _ job: ObservedJob, started: ContextInstant, at instant: ContextInstant
    ) {
        observer.finished(
            job.work, waited: job.work.enqueued.duration(to: started),
            ran: started.duration(to: instant))
    }

    override func failed(
        _ job: ObservedJob, started: ContextInstant, at instant: ContextInstant, error: any Error
    ) {
        observer.failed(
            job.work, waited: job.work.enqueued.duration(to: started),
            ran: started.duration(to: instant), error: error)
    }

    override func abandoned(_ job: ObservedJob, at instant: ContextInstant) {
        observer.abandoned(job.work, waited: job.work.enqueued.duration(to: instant))
    }
}

/// Reports to an observer that computes with instants.
private final class InstantReports<Observer: JobObserver>: JobReports, @unchecked Sendable {
    // Unchecked because its superclass is; it adds a constant.
    private let observer: Observer

    init(_ observer: Observer) { self.observer = observer }

    override var isEnabled: Bool { observer.isEnabled }

    override func enqueued(_ job: ObservedJob) { observer.enqueued(job) }

    override func started(_ job: ObservedJob, at instant: ContextInstant) {
        observer.started(job, at: instant)
    }

    override func finished(
        _ job: ObservedJob, started: ContextInstant, at instant: ContextInstant
    ) { observer.finished(job, started: started, at: instant) }

    override func abandoned(_ job: ObservedJob, at instant: ContextInstant) {
        observer.abandoned(job, at: instant)
    }
}

/// The time of one job: the system's, which is not retained, or another.
struct JobTime: Sendable {
    /// Nil for the system's.
    private let other: (any TimeSource)?

    /// The system's.
    init() { other = nil }

    @inline(never)
    init(_ time: any TimeSource) { other = time === SystemTime.shared ? nil : time }

    /// The present instant.
    @inline(__always)
    var now: ContextInstant { other?.now ?? SystemTime.now }

    /// The identity of the time, where `system` is that of the system's.
    @inline(__always)
    func identity(_ system: ObjectIdentifier) -> ObjectIdentifier { other?.identity ?? system }
}
