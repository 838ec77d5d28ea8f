import Dispatch
import ExecutionContexts
import ExecutionContextsTesting
import Foundation
import TestSupport
import Testing

/// Groups of Dispatch in a simulation: what is told of them, and groups that are used again.
@Suite(.patient, .dispatchIsSimulated)
struct PlainGroupTests {
    private struct Wrong: Error {}

    @Test func `Law 33: a group that is not left says how often, and who left it last`() throws {
        let report = search("group") { sim in
            let group = DispatchGroup()
            for _ in 0..<3 { group.enter() }
            sim.spawn("alice") { group.leave() }
            sim.spawn("joiner") { group.wait() }
        }
        #expect(
            report.failure?.happened.contains(
                "'joiner' waits for 'a group', which was entered 2 times more than left, last by 'alice'"
            )
                == true, "\(report)")
    }

    @Test(arguments: [SimulationStrategy.portfolio, .random, .exhaustive])
    func `Law 33: a group that is entered again at once lets its waiters go`(
        strategy: SimulationStrategy
    ) {
        let report = search("again", schedules: 2_000, strategy: strategy) { sim in
            let (group, isOver) = (DispatchGroup(), DispatchSemaphore(value: 0))
            group.enter()
            sim.spawn("worker") {
                group.leave()
                group.enter()
                isOver.wait()
                group.leave()
            }
            for name in ["a", "b"] {
                sim.spawn(name) {
                    // Waits for the first round, if it is in time for it.
                    if group.wait(timeout: .now() + 3_000) == .success { isOver.signal() }
                }
            }
            sim.spawn("late") {
                Thread.sleep(forTimeInterval: 10)
                isOver.signal()
            }
        }
        #expect(report.failure == nil, "\(report)")
    }

    @Test func `Law 33: those that wait when a group is empty go on, though it is entered again`() {
        let woken = Box(0)
        let report = search("generation", schedules: 500) { sim in
            let (group, isWaiting) = (DispatchGroup(), Tracked(false, name: "waits"))
            group.enter()
            sim.spawn("waiter") {
                isWaiting.value = true
                if group.wait(timeout: .now() + 100) == .success { woken.withValue { $0 += 1 } }
            }
            sim.spawn("worker") {
                Thread.sleep(forTimeInterval: 1)
                // The waiter waits by now.
                if !isWaiting.value { throw Wrong() }
                group.leave()
                group.enter()
                Thread.sleep(forTimeInterval: 1_000)
                group.leave()
            }
        }
        #expect(report.failure == nil, "\(report)")
        // In each run: none waits for the second round.
        #expect(woken.value >= report.schedules, "\(woken.value)")
    }

    @Test func `Law 33: a group that is left too often traps as elsewhere`() async {
        await #expect(processExitsWith: .failure) {
            _ = search("left", schedules: 1) { sim in
                sim.spawn("a") { DispatchGroup().leave() }
            }
        }
    }

    /// A group whose last reference is its own: it is freed by the last leave.
    @Test func `Law 33: the last leave may be the end of a group`() {
        let report = search("freed by leave", schedules: 200) { sim in
            for number in 0..<3 {
                let group = DispatchGroup()
                group.enter()
                sim.spawn("\(number)") { group.leave() }
            }
        }
        #expect(report.failure == nil, "\(report)")
    }
}
