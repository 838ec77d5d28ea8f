import Dispatch
import ExecutionContexts
import ExecutionContextsTesting
import Foundation
import TestSupport
import Testing

/// Simulations in a process whose environment has Dispatch real: `.ci/full` runs them in one.
@Suite(.patient, .dispatchIsReal)
struct RealDispatchTests {
    private static let name = "EXECUTION_CONTEXTS_DISPATCH is 0"

    @Test func `Law 33: a search that found nothing says that Dispatch is real`() {
        let report = search("counting", schedules: 20) { sim in
            let (group, lock) = (DispatchGroup(), NSLock())
            for name in ["alice", "bob"] {
                sim.spawn(name) {
                    group.enter()
                    lock.withLock {}
                    group.leave()
                }
            }
        }
        #expect(report.failure == nil && report.description.contains(Self.name), "\(report)")
    }

    @Test func `Law 33: a thread that waits for Dispatch is blocked, and the report says why`() {
        let semaphore = DispatchSemaphore(value: 0)
        let report = search("waiting", schedules: 20, patience: .milliseconds(500)) { sim in
            sim.spawn("alice") { semaphore.wait() }
            sim.spawn("bob") { sim.step() }
        }
        semaphore.signal()
        #expect(report.failure?.kind == .blocked, "\(report)")
        #expect(report.description.contains(Self.name), "\(report)")
    }

    @Test func `Law 33: what a job of a real queue uses is reported, and the report says why`() {
        let report = search("queue", schedules: 20, patience: .milliseconds(500)) { sim in
            let (queue, value) = (DispatchQueue(label: "own"), Tracked(0, name: "value"))
            sim.spawn("alice") { queue.sync { value.value += 1 } }
            sim.spawn("bob") {
                queue.async { value.value += 1 }
                queue.sync {}
            }
        }
        // A thread that is paused in a job of the queue blocks the other one.
        #expect([.foreign, .blocked].contains(report.failure?.kind), "\(report)")
        #expect(report.description.contains(Self.name), "\(report)")
    }
}

extension Trait where Self == ConditionTrait {
    fileprivate static var dispatchIsReal: Self {
        .enabled("where the environment says so") {
            guard ProcessInfo.processInfo.environment["EXECUTION_CONTEXTS_DISPATCH"] == "0"
            else { return false }
            return await replacesFunctions()
        }
    }
}
