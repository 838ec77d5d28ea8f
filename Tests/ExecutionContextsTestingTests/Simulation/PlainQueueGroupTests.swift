import Dispatch
import ExecutionContexts
import ExecutionContextsTesting
import Foundation
import TestSupport
import Testing

/// Groups and work items of Dispatch, whose jobs run in queues of the simulation.
@Suite(.patient, .dispatchIsSimulated)
struct PlainQueueGroupTests {
    private struct Wrong: Error {}

    @Test func `Law 33: a wait for a group ends when its jobs have run`() {
        let report = search("group", schedules: 500) { sim in
            let (queue, group) = (DispatchQueue.global(), DispatchGroup())
            let done = Tracked(0, name: "done")
            let section = CriticalSection()
            sim.spawn("alice") {
                for _ in 0..<3 {
                    queue.async(group: group) { section.execute { done.value += 1 } }
                }
                group.wait()
                if done.value != 3 { throw Wrong() }
            }
        }
        #expect(report.failure == nil, "\(report)")
        #expect(report.choices > 0)
    }

    @Test func `Law 33: a job that a group notifies runs after all that are in it`() {
        let ends = Box(0)
        let report = search("notify", schedules: 300) { sim in
            let (queue, group) = (
                DispatchQueue(label: "q", attributes: .concurrent), DispatchGroup()
            )
            let (done, isOver) = (Tracked(0, name: "done"), Tracked(false, name: "over"))
            let section = CriticalSection()
            group.enter()
            sim.spawn("alice") {
                group.notify(queue: queue) {
                    if done.value == 3 { isOver.value = true }
                    ends.withValue { $0 += 1 }
                }
            }
            for _ in 0..<2 { queue.async(group: group) { section.execute { done.value += 1 } } }
            sim.spawn("bob") {
                section.execute { done.value += 1 }
                group.leave()
            }
            sim.finally("notified") { isOver.value }
        }
        #expect(report.failure == nil, "\(report)")
        #expect(ends.value >= 300)
    }

    @Test
    func
        `Law 33: a notification of an empty group runs at once, one of a group that is not left never`()
    {
        let empty = search("empty", schedules: 50, ignoring: [.vacuous]) { sim in
            let (queue, ran) = (DispatchQueue(label: "q"), Tracked(false, name: "ran"))
            sim.spawn("alice") { DispatchGroup().notify(queue: queue) { ran.value = true } }
            sim.finally("ran") { ran.value }
        }
        #expect(empty.failure == nil, "\(empty)")
        let left = search("never") { sim in
            let group = DispatchGroup()
            group.enter()
            sim.spawn("alice") {
                group.notify(queue: .global()) {}
                sim.invariant("kept") { withExtendedLifetime(group) { true } }
            }
        }
        #expect(left.failure?.kind == .leftover, "\(left)")
    }

    @Test func `Law 33: a work item runs once it is submitted, is waited for, and notifies`() {
        let report = search("item", schedules: 300) { sim in
            let queue = DispatchQueue(label: "q")
            let (ran, notified) = (Tracked(0, name: "ran"), Tracked(0, name: "notified"))
            sim.spawn("alice") {
                let item = DispatchWorkItem { ran.value += 1 }
                item.notify(queue: .global()) { notified.value += ran.value }
                queue.async(execute: item)
                item.wait()
                if ran.value != 1 { throw Wrong() }
                let late = DispatchWorkItem {}
                if late.wait(timeout: .now() + 5) != .timedOut { throw Wrong() }
            }
            sim.finally("notified") { notified.value == 1 }
        }
        #expect(report.failure == nil, "\(report)")
    }

    @Test func `Law 33: a work item that is cancelled in time does not run`() {
        let runs = Box<Set<Int>>([])
        let report = search("cancel", schedules: 500) { sim in
            let queue = DispatchQueue(label: "q")
            let ran = Tracked(0, name: "ran")
            // Unsafe in name only, both: a work item may be used by any thread.
            nonisolated(unsafe) let item = DispatchWorkItem { ran.value += 1 }
            nonisolated(unsafe) let delayed = DispatchWorkItem { ran.value += 10 }
            sim.spawn("alice") {
                unsafe queue.async(execute: item)
                // Longer than a schedule: what is cancelled is not left.
                unsafe queue.asyncAfter(deadline: .now() + 100_000, execute: delayed)
                unsafe delayed.cancel()
            }
            sim.spawn("bob") {
                unsafe item.cancel()
                if unsafe !item.isCancelled { throw Wrong() }
            }
            sim.finally("noted") {
                runs.withValue { _ = $0.insert(ran.value) }
                return true
            }
        }
        #expect(report.failure == nil, "\(report)")
        #expect(runs.value == [0, 1])
    }

    @Test func `Law 33: an item with the flag of a barrier is one`() {
        let report = search("barrier item", schedules: 2_000, strategy: .exhaustive) { sim in
            let queue = DispatchQueue(label: "q", attributes: .concurrent)
            let count = Tracked(0, name: "count")
            for _ in 0..<2 {
                queue.async(execute: DispatchWorkItem(flags: .barrier) { count.value += 1 })
            }
            sim.spawn("alice") { queue.sync(flags: .barrier) { count.value += 1 } }
            sim.finally("all") { count.value == 3 }
        }
        #expect(report.failure == nil && report.isComplete, "\(report)")
    }

    @Test func `Law 33: a wait for an item that never runs is told`() throws {
        let report = search("never") { sim in
            sim.spawn("alice") { DispatchWorkItem {}.wait() }
        }
        let failure = try #require(report.failure)
        #expect(
            failure.kind == .lostWakeUp && failure.happened.contains("'a work item'"), "\(failure)")
    }

    @Test func `Law 33: a queue that is suspended begins no job until it is resumed`() {
        let report = search("suspended", schedules: 300) { sim in
            let queue = DispatchQueue(label: "q")
            let inner = DispatchQueue(label: "inner", target: queue)
            let idle = DispatchQueue(label: "idle", attributes: .initiallyInactive)
            let (isOpen, ran) = (Tracked(false, name: "open"), Box(0))
            for each in [queue, inner] { each.suspend() }
            sim.spawn("alice") {
                for each in [queue, inner, idle] {
                    each.async { if isOpen.value { ran.withValue { $0 += 1 } } }
                }
            }
            sim.spawn("bob") {
                isOpen.value = true
                for each in [inner, queue] { each.resume() }
                idle.activate()
            }
            sim.spawn("carol") { queue.sync { if !isOpen.value { ran.withValue { $0 = -9 } } } }
            sim.finally("all") { ran.value == 3 }
        }
        #expect(report.failure == nil, "\(report)")
        let left = search("left") { sim in
            let queue = DispatchQueue(label: "closed")
            queue.suspend()
            sim.spawn("alice") { queue.async {} }
            sim.finally("resumed") {
                queue.resume()
                return true
            }
        }
        #expect(left.failure?.kind == .leftover, "\(left)")
    }
}
