import ExecutionContexts
import ExecutionContextsTesting
import Foundation
import Synchronization
import TestSupport
import Testing

/// Plain variables that a lock of the system guards. Nothing tells the simulation which variables a
/// lock guards.
@Suite(.patient, .withoutThreadSanitizer("it has its own functions for locks"))
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
        let report = search(
            "guarded", schedules: rounds(debug: 500, release: 2_000), strategy: strategy
        ) { sim in
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

    // Unchecked: a lock guards the value.
    private final class Tried: @unchecked Sendable {
        @Shared var value = 0
        let lock = NSLock()
        let count = SimulatedAtomic(0)
    }

    @Test func `Law 33: a lock that is tried orders, too, in a program with atomics`() {
        let report = search("tried", schedules: 1_000) { sim in
            let tried = Tried()
            for name in ["alice", "bob", "carol"] {
                sim.spawn(name) {
                    tried.count.wrappingAdd(1, ordering: .relaxed)
                    guard tried.lock.try() else { return }
                    tried.value += 1
                    tried.lock.unlock()
                    guard tried.lock.lock(before: Date(timeIntervalSinceNow: 10)) else { return }
                    tried.value += 1
                    tried.lock.unlock()
                }
            }
        }
        #expect(report.failure == nil, "\(report)")
    }
}
