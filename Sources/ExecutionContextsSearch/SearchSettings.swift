public import ExecutionContextsTesting
internal import Foundation

/// How a test is searched: see `SearchedTestCase.search`.
public struct SearchSettings: Sendable {
    let schedules: Int
    let seed: UInt64
    let strategy: SimulationStrategy
    let time: SimulationTime
    let token: String?
    let steps: Int
    let patience: Duration
    let ignoring: Set<SimulationFailure.Kind>

    /// Settings with the parameters of the trait `searched`.
    public init(
        schedules: Int = 1_000, seed: UInt64 = 0, strategy: SimulationStrategy = .portfolio,
        time: SimulationTime = .whenIdle, replay token: String? = nil, steps: Int = 20_000,
        patience: Duration = .seconds(10), ignoring: Set<SimulationFailure.Kind> = []
    ) {
        (self.schedules, self.seed, self.strategy, self.time) = (schedules, seed, strategy, time)
        (self.token, self.steps, self.patience, self.ignoring) = (token, steps, patience, ignoring)
    }

    /// Whether the environment makes a test that is not searched an error.
    static var mustSearch: Bool {
        ProcessInfo.processInfo.environment["EXECUTION_CONTEXTS_UNSEARCHED"] == "error"
    }
}
