internal import ExecutionContextsTesting
internal import Testing

/// The issues of a test that runs once for each schedule.
final class CapturedIssues: Sendable {
    private struct State {
        /// Of the schedule that runs, or of the last one.
        var failures: [Issue] = []
        var error: (any Error)?
        /// What is no failure, such as known issues and warnings: each once, with its place.
        var others: [(key: String, issue: Issue)] = []
    }

    private let state = Locked(State())

    /// Begins the next schedule.
    func begin() { state.withLock { ($0.failures, $0.error) = ([], nil) } }

    func add(_ issue: Issue) {
        state.withLock { state in
            if issue.isFailure { return state.failures.append(issue) }
            let key = "\(issue) \(String(describing: issue.sourceLocation))"
            if !state.others.contains(where: { $0.key == key }) {
                state.others.append((key, issue))
            }
        }
    }

    /// Keeps what the test has thrown.
    func keep(_ error: any Error) { state.withLock { $0.error = error } }

    var hasFailures: Bool { state.withLock { !$0.failures.isEmpty } }

    /// Of the schedule that ran last: the one that explains a failure, if one was found.
    var failures: [Issue] { state.withLock { $0.failures } }
    var error: (any Error)? { state.withLock { $0.error } }
    var others: [Issue] { state.withLock { $0.others.map(\.issue) } }
}

/// Ends a schedule in which the test has recorded issues.
struct RecordedIssues: Error, CustomStringConvertible {
    let count: Int
    var description: String { "because it has recorded \(count == 1 ? "an issue" : "\(count) issues")." }
}
