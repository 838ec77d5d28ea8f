public import ExecutionContexts

/// Shows the jobs of observed contexts in Instruments, as intervals: waiting, then running.
///
/// ```swift
/// let database = GlobalContext().serial(named: "database").observed(by: SignpostObserver())
/// ```
///
/// The intervals have the subsystem and the category of the observer, and each has the name of its
/// context and the name of the job. While no tool records signposts, they cost a few nanoseconds
/// a job. On systems without signposts, such as Linux, the observer does nothing. Any thread may
/// report to it at any time.
public struct SignpostObserver: ContextObserver {
    private let signposts: Signposts

    /// Creates an observer whose intervals appear under these names.
    ///
    /// The category `PointsOfInterest` shows them without any configuration of the tool.
    public init(subsystem: String = "ExecutionContexts", category: String = "PointsOfInterest") {
        signposts = Signposts(subsystem: subsystem, category: category)
    }

    public var isEnabled: Bool { signposts.isEnabled }

    public func enqueued(_ job: ObservedWork) {
        signposts.beginWaiting(Self.number(of: job), Self.label(of: job))
    }

    public func started(_ job: ObservedWork, waited: Duration) {
        signposts.endWaiting(Self.number(of: job))
        signposts.beginRunning(Self.number(of: job), Self.label(of: job))
    }

    public func finished(_ job: ObservedWork, waited: Duration, ran: Duration) {
        signposts.endRunning(Self.number(of: job))
    }

    public func abandoned(_ job: ObservedWork, waited: Duration) {
        signposts.endWaiting(Self.number(of: job))
    }

    /// One number for the view and the job; signposts reserve the first and the last of all
    /// numbers.
    private static func number(of job: ObservedWork) -> UInt64 {
        let number = job.view << 40 ^ job.id
        return number == .max ? 1 : max(number, 1)
    }

    private static func label(of job: ObservedWork) -> String { "\(job.context) \(job.name)" }
}
