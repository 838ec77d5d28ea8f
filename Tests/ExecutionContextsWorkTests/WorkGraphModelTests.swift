import ExecutionContexts
import ExecutionContextsTesting
import ExecutionContextsWork
import Testing

/// A graph against a model of a few sets, step by step, through random graphs of works.
///
/// Each step subscribes, leaves, changes a priority, needs, follows, ends, drops or lets time pass,
/// and then both must agree: on what is under way, how urgent it is, who was told which end, and
/// what was cancelled.
@Suite(.timeLimit(.minutes(30)))
struct WorkGraphModelTests {
    @Test(arguments: 1...80)
    func `Laws 31, 32: a graph does what a model of it does`(seed: UInt64) {
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
