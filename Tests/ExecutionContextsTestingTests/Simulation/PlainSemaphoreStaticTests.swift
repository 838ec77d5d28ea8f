import Dispatch
import ExecutionContexts
import ExecutionContextsTesting
import Foundation
import TestSupport
import Testing

/// Semaphores and groups that outlive a schedule, as static variables do.
@Suite(.patient, .dispatchIsSimulated)
struct PlainSemaphoreStaticTests {
    private enum Statics {
        static let lock = DispatchSemaphore(value: 1)
        static let other = DispatchSemaphore(value: 1)
        static let kept = DispatchSemaphore(value: 1)
        static let group = DispatchGroup()
        static let event = DispatchSemaphore(value: 0)
        static let left = DispatchGroup()
        static let signal: DispatchSemaphore = {
            // A static variable that uses a semaphore while it is made.
            let semaphore = DispatchSemaphore(value: 0)
            semaphore.signal()
            semaphore.wait()
            return semaphore
        }()
    }

    @Test func `Law 33: a static semaphore is the same in each schedule`() {
        let report = search("static", schedules: 500) { sim in
            let count = Tracked(0, name: "count")
            for name in ["alice", "bob", "carol"] {
                sim.spawn(name) {
                    Statics.lock.wait()
                    count.value += 1
                    Statics.lock.signal()
                }
            }
            sim.finally("all") { count.value == 3 }
        }
        #expect(report.failure == nil, "\(report)")
        #expect(report.schedules == 500)
    }

    private static func deadlock(_ sim: SimulatedWorld) {
        let own = DispatchSemaphore(value: 1)
        sim.spawn("alice") {
            Statics.other.wait()
            own.wait()
            own.signal()
            Statics.other.signal()
        }
        sim.spawn("bob") {
            own.wait()
            Statics.other.wait()
            Statics.other.signal()
            own.signal()
        }
    }

    @Test func `Law 33: a static semaphore that a deadlock has left taken is given back`() throws {
        let report = search("static deadlock", Self.deadlock)
        let failure = try #require(report.failure)
        #expect([.lostWakeUp, .deadlock].contains(failure.kind), "\(report)")
        let again = search("static deadlock", replay: failure.token, Self.deadlock)
        #expect(again.failure?.kind == failure.kind, "\(again)")
        // It is as it was before.
        #expect(Statics.other.wait(timeout: .now()) == .success)
        Statics.other.signal()
    }

    @Test func `Law 33: a permit that a thread outside has given is not given back`() throws {
        _ = Statics.event
        let report = search("an event, then a deadlock", schedules: 1) { sim in
            let never = DispatchSemaphore(value: 0)
            sim.spawn("waiter") {
                Self.onOtherThread { Statics.event.signal() }
                // The permit is there, so this thread does not wait outside of the simulation.
                Statics.event.wait()
                never.wait()
            }
        }
        #expect(report.failure?.kind == .lostWakeUp, "\(report)")
        // It is as it was before: it counts events, and none is left.
        #expect(Statics.event.wait(timeout: .now()) == .timedOut)
    }

    @Test func `Law 33: a group that a thread outside has left is not left once more`() {
        _ = Statics.left
        let report = search("left, then a deadlock", schedules: 1) { sim in
            let never = DispatchSemaphore(value: 0)
            sim.spawn("waiter") {
                Statics.left.enter()
                Self.onOtherThread { Statics.left.leave() }
                never.wait()
            }
        }
        #expect(report.failure?.kind == .lostWakeUp, "\(report)")
        #expect(Statics.left.wait(timeout: .now()) == .success)
    }

    /// Runs `body` on a thread outside of the simulation, and returns at its end.
    private static func onOtherThread(_ body: @escaping @Sendable () -> Void) {
        let isDone = Box(false)
        onThreadOutside {
            body()
            isDone.value = true
        }
        while !isDone.value { sched_yield() }
    }

    @Test func `Law 33: a static semaphore that a thread keeps is found in each schedule`() {
        for _ in 0..<2 {
            let report = search("kept") { sim in
                sim.spawn("alice") { Statics.kept.wait() }
                sim.spawn("bob") {
                    Statics.kept.wait()
                    Statics.kept.signal()
                }
            }
            #expect(report.failure?.kind == .lostWakeUp, "\(report)")
        }
    }

    @Test func `Law 33: a static group is the same in each schedule`() {
        let report = search("static group", schedules: 200) { sim in
            let parts = (0..<2).map { Tracked(0, name: "part \($0)") }
            for (number, part) in parts.enumerated() {
                Statics.group.enter()
                sim.spawn("worker \(number)") {
                    part.value = 1
                    Statics.group.leave()
                }
            }
            sim.spawn("joiner") {
                Statics.group.wait()
                if parts.contains(where: { $0.value == 0 }) { throw Early() }
            }
        }
        #expect(report.failure == nil, "\(report)")
        #expect(report.schedules == 200)
    }
    private struct Early: Error {}

    @Test func `Law 33: a static variable may use a semaphore while it is made`() {
        let report = search("made by use", schedules: 100) { sim in
            for name in ["alice", "bob"] {
                sim.spawn(name) {
                    Statics.signal.signal()
                    Statics.signal.wait()
                }
            }
        }
        #expect(report.failure == nil, "\(report)")
    }

    @Test(arguments: [0.0, 5.0])
    func `Law 33: a static semaphore is waited for while others may signal it`(_ delay: Double) {
        let ended = DispatchSemaphore(value: 0)
        let report = search("ended", schedules: 100, ignoring: [.vacuous]) { sim in
            sim.spawn("alice") {
                DispatchQueue.global().asyncAfter(deadline: .now() + delay) { ended.signal() }
                ended.wait()
            }
            sim.spawn("bob") { sim.step() }
        }
        #expect(report.failure == nil, "\(report)")
    }
}
