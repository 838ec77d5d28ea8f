internal import ExecutionContexts
internal import Foundation

/// The time that the searches of the process take together, for an environment that limits it.
final class SearchBudget: Sendable {
    static let shared = SearchBudget()

    /// How many schedules a search tries that begins when the time is used up.
    private static let least = 10
    /// Less time than such a search takes.
    private static let negligible = Duration.milliseconds(20)

    /// Time in which several searches run counts once.
    private struct State {
        var used: Int64 = 0
        var runningCount = 0
        /// Since when searches run.
        var start: Int64 = 0
        var isReported = false

        func used(at now: Int64) -> Duration {
            .nanoseconds(runningCount == 0 ? used : used + now - start)
        }
    }
    private let state = Locked(State())

    /// A search begins, now, by the system's monotonic clock.
    func begin(at now: Int64) {
        state.withLock { state in
            if state.runningCount == 0 { state.start = now }
            state.runningCount += 1
        }
    }

    func end(at now: Int64) {
        state.withLock { state in
            state.runningCount -= 1
            if state.runningCount == 0 { state.used += now - state.start }
        }
    }

    /// Limits a search that is about to begin.
    func limit(_ settings: inout Settings, to budget: Duration) {
        let (left, isFirst) = state.withLock { state in
            let left = budget - state.used(at: MonotonicClock.nanoseconds)
            let isFirst = left < Self.negligible && !state.isReported
            if isFirst { state.isReported = true }
            return (left, isFirst)
        }
        guard left < Self.negligible else {
            settings.limit = min(settings.limit ?? left, left)
            return
        }
        settings.schedules = min(settings.schedules, Self.least)
        guard isFirst else { return }
        let text =
            "The searches of this process have used the \(budget.components.seconds) seconds of EXECUTION_CONTEXTS_BUDGET. "
            + "From '\(settings.name)' on each tries \(Self.least) schedules.\n"
        try? FileHandle.standardError.write(contentsOf: Data(text.utf8))
    }
}
