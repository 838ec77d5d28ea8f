internal import ExecutionContextsTesting
internal import Testing

/// The issues of a test that runs once for each schedule.
final class CapturedIssues: Sendable {
    private struct State {
        /// Of the schedule that runs, or of the last one.
        var failures: [Issue] = []
        var error: (any Error)?
        /// Of the first schedule that failed.
        var firstFailures: [Issue] = []
        /// What is no failure, such as known issues and warnings: each once, with its place.
        var others: [(key: String, issue: Issue)] = []
        var isOver = false
        /// Whether an earlier schedule has failed.
        var isLater = false
    }

    private let state = Locked(State())

    /// Begins the next schedule.
    func begin() {
        state.withLock { state in
            state.isLater = !state.firstFailures.isEmpty
            (state.failures, state.error) = ([], nil)
        }
    }

    /// Takes an issue; returns it after the search, when it is to be recorded at once.
    func take(_ issue: Issue) -> Issue? {
        state.withLock { state in
            if state.isOver { return issue }
            if issue.isFailure {
                state.failures.append(issue)
                if !state.isLater { state.firstFailures.append(issue) }
                return nil
            }
            let key = "\(issue) \(String(describing: issue.sourceLocation))"
            if !state.others.contains(where: { $0.key == key }) {
                state.others.append((key, issue))
            }
            return nil
        }
    }

    /// The search has its result.
    func end() { state.withLock { $0.isOver = true } }

    /// Keeps what the test has thrown.
    func keep(_ error: any Error) { state.withLock { $0.error = error } }

    var hasFailures: Bool { state.withLock { !$0.failures.isEmpty } }

    /// Of the schedule that ran last: the one that explains a failure, if one was found.
    var failures: [Issue] { state.withLock { $0.failures } }
    var error: (any Error)? { state.withLock { $0.error } }
    /// Of the first schedule that had any: for a search that reports no failure, since it ignores
    /// the kind.
    var firstFailures: [Issue] { state.withLock { $0.firstFailures } }
    var others: [Issue] { state.withLock { $0.others.map(\.issue) } }
}

/// Ends a schedule in which the test has recorded issues.
struct RecordedIssues: Error, CustomStringConvertible {
    let count: Int
    var description: String {
        "because it has recorded \(count == 1 ? "an issue" : "\(count) issues")."
    }
}
