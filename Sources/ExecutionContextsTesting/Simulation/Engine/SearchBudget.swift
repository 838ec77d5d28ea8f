internal import ExecutionContexts
internal import Foundation

/// The time that all searches of the process take together, for an environment that limits it.
final class SearchBudget: Sendable {
    static let shared = SearchBudget()

    /// How many schedules a search tries that begins when the time is used up.
    private static let least = 10

    private struct State {
        var used = Duration.zero
        var isReported = false
    }
    private let state = Locked(State())

    /// Counts the time of a search that has ended.
    func add(_ time: Duration) { state.withLock { $0.used += time } }

    /// Limits a search that is about to begin.
    func limit(_ settings: inout Settings, to budget: Duration) {
        let (left, isFirst) = state.withLock { state in
            let left = budget - state.used
            defer { state.isReported = state.isReported || left <= .zero }
            return (left, !state.isReported)
        }
        guard left <= .zero else {
            settings.limit = min(settings.limit ?? left, left)
            return
        }
        settings.limit = nil
        settings.schedules = min(settings.schedules, Self.least)
        guard isFirst else { return }
        let text =
            "The searches of this process have used the \(budget.components.seconds) seconds of EXECUTION_CONTEXTS_BUDGET. "
            + "From '\(settings.name)' on each tries \(Self.least) schedules.\n"
        try? FileHandle.standardError.write(contentsOf: Data(text.utf8))
    }
}
