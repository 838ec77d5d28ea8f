import Testing

@testable import ExecutionContextsTesting

/// When a search that makes no step counts as blocked.
struct StillnessTests {
    /// How many looks it takes, each after this time.
    private func looks(_ waited: Duration, _ stillness: inout Stillness, steps: Int = 0) -> Int {
        for look in 1...1_000 where stillness.isOver(stepCount: steps, waited: waited) {
            return look
        }
        return .max
    }

    @Test func `Patience ends when its time has passed without a step`() {
        var stillness = Stillness(patience: .seconds(10), stepCount: 0)
        #expect(stillness.interval == .milliseconds(500))
        #expect(looks(.milliseconds(510), &stillness) == 20)
    }

    @Test func `Time in which the machine was too busy counts a tenth`() {
        var stillness = Stillness(patience: .seconds(10), stepCount: 0)
        #expect(looks(.seconds(2), &stillness) == 200)
    }

    @Test func `Each step begins anew`() {
        var stillness = Stillness(patience: .seconds(10), stepCount: 0)
        for steps in 1...100 {
            for _ in 0..<19 {
                let isOver = stillness.isOver(stepCount: steps, waited: .milliseconds(500))
                #expect(!isOver)
            }
        }
        #expect(looks(.milliseconds(500), &stillness, steps: 101) == 21)
    }
}
