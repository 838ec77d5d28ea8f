import Testing

/// Random graphs of futures against a model: outcomes, the order of all calls, and what is left in memory.
///
/// `EXECUTION_CONTEXTS_LONG=1` tries a hundred times as many.
@Suite(.timeLimit(.minutes(60)))
struct AsyncGraphTests {
    @Test
    func
        `Laws 10, 24, 25, 26: random graphs of futures do what a simple model does, and leave nothing behind`()
    {
        for seed in 1...(isLongRun ? 200_000 : 2_000) {
            if let fault = AsyncGraph.fault(of: UInt64(seed)) {
                Issue.record("seed \(seed): \(fault)")
                return
            }
        }
    }
}
