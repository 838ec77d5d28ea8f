/// Receives what happens to the jobs of a context: see `observed(by:)`.
///
/// - The calls for one job come in order. Those for different jobs come from several threads at a
///   time.
/// - They are made without a lock held (law 9). The job waits while they last, so return quickly.
/// - A job that its context refuses or drops is enqueued and abandoned, and never started.
public protocol ContextObserver: Sendable {
    /// A job was submitted. Called on the submitter.
    func enqueued(_ job: ObservedWork)

    /// A job is about to run. Called on its context.
    func started(_ job: ObservedWork, waited: Duration)

    /// A job has run. Called on its context.
    func finished(_ job: ObservedWork, waited: Duration, ran: Duration)

    /// A job will never run: it was refused or dropped. Called wherever its context released it.
    func abandoned(_ job: ObservedWork, waited: Duration)
}

extension ContextObserver {
    public func enqueued(_ job: ObservedWork) {}
    public func started(_ job: ObservedWork, waited: Duration) {}
    public func abandoned(_ job: ObservedWork, waited: Duration) {}
}

/// One job as an observer sees it.
public struct ObservedWork: Hashable, Sendable, Identifiable {
    /// The number of the job: unique within its view, in the order of submission.
    public let id: UInt64
    /// The number of the observed view that it was submitted to, unique in the process.
    public let view: UInt64
    /// The name of the context.
    public let context: String
    /// When it was submitted, in the time of its context.
    public let enqueued: ContextInstant
    /// The identity of that time: instants of jobs with equal ones are comparable.
    public let timeSource: ObjectIdentifier
    /// The observed job that submitted it: the one running on the submitting thread, of any
    /// context.
    public let submitter: Identity?

    /// The identity of a job, unique in the process.
    public struct Identity: Hashable, Sendable {
        /// The number of the observed view.
        public let view: UInt64
        /// The number of the job within the view.
        public let job: UInt64
    }

    /// The identity of the job, unique in the process.
    public var identity: Identity { Identity(view: view, job: id) }
}
