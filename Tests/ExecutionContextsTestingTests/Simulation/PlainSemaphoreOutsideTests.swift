import Dispatch
import ExecutionContexts
import ExecutionContextsTesting
import Foundation
import TestSupport
import Testing

/// Semaphores and groups that threads outside of the simulation use.
@Suite(.patient, .dispatchIsSimulated)
struct PlainSemaphoreOutsideTests {
    private struct Early: Error {}

    /// Runs `body` on a thread of its own, and returns at its end.
    private static func onThread(_ body: @escaping @Sendable () -> Void) {
        done.withValue { _ in
            Thread {
                body()
                ended.signal()
            }.start()
            ended.wait()
        }
    }
    // Made outside of each schedule, so that a simulated thread really waits for a real one.
    private static let ended = DispatchSemaphore(value: 0)
    private static let done = Box(0)

    @Test func `Law 33: a signal from a thread outside is reported as foreign`() throws {
        _ = Self.ended
        let report = search("from outside", schedules: 20) { sim in
            let semaphore = DispatchSemaphore(value: 0)
            sim.spawn("waiter") {
                Self.onThread { semaphore.signal() }
                semaphore.wait()
            }
        }
        let failure = try #require(report.failure)
        #expect(failure.kind == .foreign, "\(report)")
        #expect(failure.happened.contains("'a semaphore' was signalled by a thread"), "\(report)")
    }

    @Test func `Law 33: a leave from a thread outside is reported as foreign`() throws {
        _ = Self.ended
        let report = search("left from outside", schedules: 20) { sim in
            let group = DispatchGroup()
            sim.spawn("waiter") {
                group.enter()
                Self.onThread { group.leave() }
                group.wait()
            }
        }
        let failure = try #require(report.failure)
        #expect(failure.kind == .foreign, "\(report)")
        #expect(failure.happened.contains("'a group' was left by a thread"), "\(report)")
    }

    @Test func `Law 33: a queue that signals after the wait is waited for`() {
        let report = search("queue", schedules: 100, ignoring: [.vacuous]) { sim in
            let (semaphore, queue) = (DispatchSemaphore(value: 0), DispatchQueue(label: "worker"))
            sim.spawn("client") {
                queue.async { semaphore.signal() }
                semaphore.wait()
            }
        }
        #expect(report.failure == nil, "\(report)")
    }

    @Test func `Law 33: a thread outside that leaves a group late is said not to be waited for`() {
        let mayLeave = DispatchSemaphore(value: 0)
        let report = search("late") { sim in
            let group = DispatchGroup()
            sim.spawn("client") {
                group.enter()
                onThreadOutside {
                    mayLeave.wait()
                    group.leave()
                }
                group.wait()
            }
        }
        mayLeave.signal()
        #expect(report.failure?.kind == .lostWakeUp, "\(report)")
        #expect(
            report.failure?.happened.contains("queues, timers and threads of the system") == true,
            "\(report)")
        // What was reported as lost came later.
        mayLeave.signal()
    }

    @Test func `Law 33: a job that a queue runs for a group is waited for`() {
        let report = search("async", schedules: 200) { sim in
            let (group, queue) = (DispatchGroup(), DispatchQueue(label: "worker"))
            let done = Box(0)
            sim.spawn("client") {
                for _ in 0..<3 { queue.async(group: group) { done.withValue { $0 += 1 } } }
                group.wait()
                if done.value != 3 { throw Early() }
            }
            sim.spawn("other") { for _ in 0..<3 { sim.step() } }
        }
        #expect(report.failure == nil, "\(report)")
    }

    @Test func `Law 33: what a group notifies that a thread outside is in is reported, and runs`()
        async
    {
        let notified = Box(0)
        let groups = Box<[DispatchGroup]>([])
        let report = await search("notify", schedules: 1) { sim in
            let group = DispatchGroup()
            groups.withValue { $0.append(group) }
            Self.onThread { group.enter() }
            sim.spawn("client") {
                group.notify(queue: DispatchQueue(label: "listener")) {
                    notified.withValue { $0 += 1 }
                }
            }
        }
        #expect(report.failure?.kind == .foreign, "\(report)")
        for group in groups.value { group.leave() }
        while notified.value < 1 { await Task.yield() }
    }

    @Test func `Law 33: a thread with a run loop can be made in a simulation`() {
        let report = search("run loop", schedules: 20, ignoring: [.foreign]) { sim in
            sim.spawn("maker") { _ = RunLoopThreadContext(name: "loop") }
            sim.spawn("other") { for _ in 0..<3 { sim.step() } }
        }
        #expect(report.failure == nil, "\(report)")
        let strict = search("run loop", schedules: 5, ignoring: [.vacuous]) { sim in
            sim.spawn("maker") { _ = RunLoopThreadContext(name: "loop") }
        }
        #expect(strict.failure == nil, "\(strict)")
    }

    @Test func `Law 33: a semaphore from outside is waited for as elsewhere`() {
        let gate = DispatchSemaphore(value: 0)
        let begun = DispatchSemaphore(value: 0)
        DispatchQueue(label: "opener").async {
            // Two of the search, one that repeats the first, and one at the end.
            for _ in 0..<4 {
                begun.wait()
                gate.signal()
            }
        }
        let report = search("outside", schedules: 2, ignoring: [.vacuous]) { sim in
            sim.spawn("waiter") {
                begun.signal()
                if gate.wait(timeout: .now() + 60) == .timedOut { throw Early() }
            }
        }
        #expect(report.failure == nil, "\(report)")
    }

    @Test func `Law 33: a semaphore of one simulation that another one uses is foreign there`() {
        let kept = Box<DispatchSemaphore?>(nil)
        let report = search("outer", schedules: 1) { sim in
            let semaphore = DispatchSemaphore(value: 0)
            kept.withValue { $0 = semaphore }
            sim.spawn("waiter") {
                Self.onThread {
                    _ = search("inner", schedules: 1) { sim in
                        sim.spawn("signaller") { kept.value?.signal() }
                    }
                }
                semaphore.wait()
            }
        }
        #expect(report.failure?.kind == .foreign, "\(report)")
    }

    @Test func `Law 33: what happens to semaphores outside is no affair of a simulation`() async {
        // Many are made and freed outside, at addresses that a schedule has had.
        let isOver = Box(false)
        let outside = Task.detached {
            while !isOver.value {
                let (semaphore, group) = (DispatchSemaphore(value: 0), DispatchGroup())
                group.enter()
                semaphore.signal()
                group.leave()
                semaphore.wait()
                await Task.yield()
            }
        }
        let report = await search("beside", schedules: 2_000) { sim in
            for name in ["a", "b"] {
                sim.spawn(name) {
                    let (semaphore, group) = (DispatchSemaphore(value: 0), DispatchGroup())
                    group.enter()
                    semaphore.signal()
                    semaphore.wait()
                    group.leave()
                }
            }
        }
        isOver.withValue { $0 = true }
        await outside.value
        #expect(report.failure == nil, "\(report)")
    }
}
