import Dispatch
import ExecutionContexts
import ExecutionContextsTesting
import TestSupport
import Testing

@Suite(.patient)
struct AsyncOrderTests {
    @Test func `Law 25: callbacks registered while the value arrives are called in order`() async {
        let disorder = await withCheckedContinuation { continuation in
            // Blocks, so not on a thread of the cooperative pool.
            DispatchQueue.global().async { continuation.resume(returning: race(rounds: 3000)) }
        }
        #expect(disorder == 0)
    }

    /// Registers callbacks on one thread while another thread completes the future.
    ///
    /// Returns in how many rounds a callback overtook another one.
    private func race(rounds: Int) -> Int {
        let completer = DispatchQueue(label: "completer")
        let hasCompleted = DispatchSemaphore(value: 0)
        var disorder = 0
        for _ in 0..<rounds {
            let manual = ManualContext()
            let value = manual.submit {}
            let log = Box<[Int]>([])
            completer.async {
                manual.runReady()
                hasCompleted.signal()
            }
            for index in 0..<40 { value.onComplete { _ in log.withValue { $0.append(index) } } }
            hasCompleted.wait()
            if log.value != Array(0..<40) { disorder += 1 }
        }
        return disorder
    }
}
