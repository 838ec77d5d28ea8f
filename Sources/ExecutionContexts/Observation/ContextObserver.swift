/// Receives what happens to the jobs of a context: see `observed(by:)`.
///
/// - The calls for one job come in order. Those for different jobs come from several threads at a
///   time.
/// - They are made without a lock held (law 9). The job waits while they last, so return quickly.
/// - A job that its context refuses or drops is enqueued and abandoned, and never started.
public protocol ContextObserver: Sendable {
    /// Whether the observer wants reports; asked once for each job, when it is submitted.
    ///
    /// A job that is submitted while this is false is not reported at all, and costs next to
    /// nothing. The default is true.
    var isEnabled: Bool { get }

    /// A job was submitted. Called on the submitter.
    func enqueued(_ job: ObservedWork)

    /// A job is about to run. Called on its context.
    func started(_ job: ObservedWork, waited: Duration)

    /// A job has run. Called on its context.
    func finished(_ job: ObservedWork, waited: Duration, ran: Duration)

    /// A job has run, and its body threw an error. Called in place of `finished`, which the default
    /// calls.
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
