import TestSupport

@testable import ExecutionContextsTesting

/// Runs a program by reversals alone, until none is left; returns false after `most` schedules, or
/// if one failed.
func runReversals(
    _ most: Int, seed: UInt64, _ body: @escaping @Sendable (SimulatedWorld) throws -> Void
) -> Bool {
    let search = Search(
        Settings(
            name: "reversals", schedules: most, strategy: .portfolio, time: .whenIdle, seed: seed,
            steps: 20_000, horizon: .max, patience: Patience.step, ignoring: []), body)
    search.hosts.register()
    defer {
        search.hosts.dismiss()
        search.hosts.unregister()
    }
    let chooser = ReversingChooser(seed: seed)
    var (count, hasFailed) = (0, false)
    search.runEach(chooser) { outcome in
        count += 1
        hasFailed = outcome.finding != nil
        return !hasFailed && !chooser.isDone && count < most
    }
    return chooser.isDone && !hasFailed
}
