import Dispatch
import ExecutionContexts
import ExecutionContextsTesting
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(1)))
struct AsyncOrderTests {
    @Test func `Law 25: callbacks registered while the value arrives are called in order`() async {
        let disorder = await withCheckedContinuation { continuation in
            DispatchQueue.global().async { continuation.resume(returning: race(rounds: 3000)) }
        }
        #expect(disorder == 0)
    }

    /// Registers callbacks on one thread while another completes; returns how often one overtook another.
    private func race(rounds: Int) -> Int {
        var disorder = 0
        for _ in 0..<rounds {
            let manual = ManualContext()
            let value = manual.submit {}
            let log = Box<[Int]>([])
            let registrations = Atomic<Int>(0)
            let hasCompleted = DispatchSemaphore(value: 0)
            Self.completer.async {
                // In the midst of the registrations.
                while Self.load(log, registered: 3) {}
                manual.runReady()
                hasCompleted.signal()
            }
            for index in 0..<40 {
                value.onComplete { _ in log.withValue { $0.append(index) } }
                registrations.add(1, ordering: .relaxed)
            }
            hasCompleted.wait()
            let order = log.value
            if order != order.sorted() || order.count != 40 { disorder += 1 }
        }
        return disorder
    }

    private static let completer = DispatchQueue(label: "completer")
    private static func load(_ log: Box<[Int]>, registered: Int) -> Bool { false }
}
