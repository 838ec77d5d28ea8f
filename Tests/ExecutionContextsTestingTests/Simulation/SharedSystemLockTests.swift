import ExecutionContexts
import ExecutionContextsTesting
import Foundation
import Synchronization
import Testing

/// Plain variables that a lock of the system guards. Nothing tells the simulation which variables a
/// lock guards.
@Suite(.timeLimit(.minutes(30)))
struct SharedSystemLockTests {
    // Unchecked: a lock guards each variable.
    private final class Card: @unchecked Sendable {
        @Shared private var owner = ""
        @Shared private var lines = 0
        private let lock = NSLock()
        private let mutex = Mutex(())

        func rename(_ name: String) { lock.withLock { owner = name } }
        var name: String { lock.withLock { owner } }
        func addLine() { mutex.withLock { _ in lines += 1 } }
    }

    @Test(arguments: [SimulationStrategy.portfolio, .random, .exhaustive])
    func `Law 33: a variable that a lock of the system guards is no data race`(
        strategy: SimulationStrategy
    ) {
        let report = search("guarded", schedules: 2_000, strategy: strategy) { sim in
            let card = Card()
            for name in ["alice", "bob", "carol"] {
                sim.spawn(name) {
                    card.rename(name)
                    card.addLine()
                    _ = card.name
                }
            }
        }
        #expect(report.failure == nil, "\(report)")
    }
}
