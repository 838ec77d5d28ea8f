import ExecutionContexts
import ExecutionContextsTesting
import ExecutionContextsWork
import TestSupport
import Testing

/// Compares a graph with a model of a few sets, step by step, on random graphs of work items.
///
/// Each step subscribes, leaves, changes a priority, needs, follows, ends, drops or lets time pass.
/// Then both must agree on what is in flight, at which priority, which subscriber received which
/// end, and what was cancelled.
@Suite(.patient)
struct WorkGraphModelTests {
    @Test(arguments: seeds(debug: 25, release: 80))
    func `Laws 31, 32: a graph behaves like its model`(seed: UInt64) {
        var play = WorkGraphPlay(seed: seed)
        var steps: [String] = []
        for _ in 0..<250 {
            steps.append(play.step())
            let wrong = play.differences
            #expect(wrong.isEmpty, "after these steps: \(steps.joined(separator: "; "))")
            if !wrong.isEmpty { return }
        }
        play.finish()
        #expect(play.graph.liveCount == 0)
    }
}
