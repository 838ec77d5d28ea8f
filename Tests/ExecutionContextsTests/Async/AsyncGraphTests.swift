import TestSupport
import Testing

/// Compares random graphs of futures with a model: outcomes, order of calls, memory that is left.
///
@Suite(.patient)
struct AsyncGraphTests {
    @Test
    func `Laws 10, 24, 25, 26: random graphs of futures behave like a model, and leak nothing`() {
        for seed in 1...(isLongRun ? 200_000 : rounds(debug: 600, release: 2_000)) {
            if let fault = AsyncGraph.fault(of: UInt64(seed)) {
                Issue.record("seed \(seed): \(fault)")
                return
            }
        }
    }
}
