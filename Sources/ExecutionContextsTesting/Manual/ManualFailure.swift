/// Why a manual context could not complete a test's call, and what is pending.
///
/// Both test libraries record an error that a test throws, with its description.
public struct ManualFailure: Error, Sendable, CustomStringConvertible {
    /// What went wrong.
    public enum Reason: Hashable, Sendable {
        /// `limit` jobs ran, and there was always one more.
        case neverIdle(afterJobs: Int)
        /// An async body waits for code that no manual context runs.
        case stuck
        /// A test has ended, and work is pending.
        case unfinished
    }

    /// What went wrong.
    public let reason: Reason
    /// The name of the context, or of the time, that the test called.
    public let context: String
    /// The source location of that call, as file and line.
    public let sourceLocation: String
    /// The work that was pending then, in the order in which it would have run.
    public let pending: [PendingWork]

    public var description: String {
        switch reason {
        case .neverIdle(let count):
            "\(sourceLocation): '\(context)' ran \(count) jobs and is not idle (law 7). Cancel repeating work, put it on a "
                + "background context, or advance by a duration. \(list)"
        case .stuck:
            "\(sourceLocation): the async body that '\(context)' drives waits for something that does not run there: a Task of "
                + "its own, a sleep on a real clock, an actor with its own executor, the main actor (law 7). Inject the "
                + "context and its clock, or let driveAsync wait for it. \(list)"
        case .unfinished:
            "\(sourceLocation): work is pending on '\(context)' at the end of the test (law 10). Run it or cancel it. \(list)"
        }
    }

    private var list: String {
        guard !pending.isEmpty else { return "Nothing is pending." }
        let shown = pending.prefix(10).map { "\n  - \($0)" }.joined()
        return "Pending:\(shown)"
            + (pending.count > 10 ? "\n  - and \(pending.count - 10) more" : "")
    }
}
