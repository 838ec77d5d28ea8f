/// Shows the pieces of the contexts that it observes in Instruments, as intervals: waiting, then running.
///
/// ```swift
/// let database = GlobalContext().serial("database").observed(by: SignpostObserver())
/// ```
///
/// They stand under the subsystem and the category that it is made with, each with the name of its context and the
/// number of the piece. While no tool takes them down a piece costs a few nanoseconds more. On systems without
/// signposts, such as Linux, it is told and does nothing. Any thread may report to it at any time.
public struct SignpostObserver: ContextObserver {
    private let signposts: Signposts

    /// Makes an observer whose intervals a tool finds under these names.
    ///
    /// The category `PointsOfInterest` shows them without any set-up of the tool.
    public init(subsystem: String = "ExecutionContexts", category: String = "PointsOfInterest") {
        signposts = Signposts(subsystem: subsystem, category: category)
    }

    public func enqueued(_ piece: ObservedWork) {
        signposts.beginWaiting(Self.number(of: piece), Self.label(of: piece))
    }

    public func started(_ piece: ObservedWork, waited: Duration) {
        signposts.endWaiting(Self.number(of: piece))
        signposts.beginRunning(Self.number(of: piece), Self.label(of: piece))
    }

    public func finished(_ piece: ObservedWork, waited: Duration, ran: Duration) {
        signposts.endRunning(Self.number(of: piece))
    }

    public func abandoned(_ piece: ObservedWork, waited: Duration) {
        signposts.endWaiting(Self.number(of: piece))
    }

    /// One number for the view and the piece; the first and the last of all numbers are not allowed.
    private static func number(of piece: ObservedWork) -> UInt64 {
        let number = piece.view << 40 ^ piece.id
        return number == .max ? 1 : max(number, 1)
    }

    private static func label(of piece: ObservedWork) -> String { "\(piece.context) #\(piece.id)" }
}
