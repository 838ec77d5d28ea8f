#if !canImport(ObjectiveC)
internal import ExecutionContextsTesting
internal import XCTest

/// The failures of a test method of XCTest that is run once for each schedule.
final class CapturedFailures: Sendable {
    struct Failure {
        let description: String
        let path: String
        let line: Int
        let isExpected: Bool
    }

    private struct State {
        var isSearching = false
        /// Of the schedule that runs, or of the last one, which explains a failure.
        var first: Failure?
        var firstOfAll: Failure?
        var isNeverRun = true
        var isSkipped = false
    }

    private let state = Locked(State())

    /// Begins the next schedule.
    func begin() {
        state.withLock { state in
            state.isSearching = true
            state.first = nil
        }
    }

    /// Keeps a failure; false outside of a search.
    func take(_ failure: Failure) -> Bool {
        state.withLock { state in
            guard state.isSearching else { return false }
            if state.first == nil { state.first = failure }
            if state.firstOfAll == nil { state.firstOfAll = failure }
            return true
        }
    }

    /// Runs the body of the test, which may skip it.
    func run(_ body: () throws -> Void) throws {
        state.withLock { $0.isNeverRun = false }
        do {
            try body()
        } catch let skip as XCTSkip {
            state.withLock { $0.isSkipped = true }
            throw skip
        }
    }

    /// Whether the test was skipped, by its body or before it in each schedule.
    var isSkipped: Bool { state.withLock { $0.isSkipped || $0.isNeverRun } }

    /// The search has its result.
    func end() { state.withLock { $0.isSearching = false } }

    var first: Failure? { state.withLock { $0.first } }
    var firstOfAll: Failure? { state.withLock { $0.firstOfAll } }
}
#endif
