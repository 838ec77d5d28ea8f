import Dispatch
import ExecutionContexts
import ExecutionContextsTesting
import Foundation
import Synchronization
import TestSupport
import Testing

/// Queues of Dispatch at the edges of a simulation: targets, threads outside, and the end.
@Suite(.patient, .dispatchIsSimulated)
struct PlainQueueEdgeTests {
    private enum Statics {
        static let queue = DispatchQueue(label: "static")
        static let item = Box(0)
    }

    /// Whether two threads are in it at a time.
    private final class Alone: Sendable {
        private let isBusy = Tracked(false, name: "busy")
        let wasShared = Box(false)

        func enter() {
            if isBusy.value { wasShared.value = true }
            isBusy.value = true
            isBusy.value = false
        }
    }

    @Test func `Law 33: queues with one serial target exclude each other`() {
        let report = search("targets", schedules: 1_000) { sim in
            let alone = Alone()
            let outer = DispatchQueue(label: "outer")
            let middle = DispatchQueue(label: "middle", attributes: .concurrent, target: outer)
            let inner = DispatchQueue(label: "inner", target: middle)
            for (number, queue) in [outer, middle, inner].enumerated() {
                sim.spawn("\(number)") {
                    queue.async { alone.enter() }
                    queue.sync { alone.enter() }
                }
            }
            sim.finally("alone") { !alone.wasShared.value }
        }
        #expect(report.failure == nil, "\(report)")
    }

    @Test func `Law 33: a barrier of a target excludes the jobs of queues inside it`() {
        func run(_ isBarrier: Bool) -> SimulationReport {
            search("outer barrier", schedules: 2_000) { sim in
                let alone = Alone()
                let outer = DispatchQueue(label: "outer", attributes: .concurrent)
                let inner = DispatchQueue(label: "inner", target: outer)
                sim.spawn("alice") {
                    outer.async(flags: isBarrier ? .barrier : []) { alone.enter() }
                }
                sim.spawn("bob") { inner.async { alone.enter() } }
                sim.spawn("carol") { inner.sync { alone.enter() } }
                sim.finally("alone") { !alone.wasShared.value }
            }
        }
        #expect(run(true).failure == nil)
        #expect(run(false).failure?.kind == .invariant)
    }

    @Test func `Law 33: a queue keeps the order of its jobs, whatever its target is`() {
        let report = search("order", schedules: 500) { sim in
            let outer = DispatchQueue(label: "outer", attributes: .concurrent)
            let inner = DispatchQueue(label: "inner", target: outer)
            let lines = Box<[Int]>([])
            sim.spawn("alice") {
                for number in 0..<3 { inner.async { lines.withValue { $0.append(number) } } }
                inner.sync { lines.withValue { $0.append(3) } }
            }
            sim.finally("in order") { lines.value == [0, 1, 2, 3] }
        }
        #expect(report.failure == nil, "\(report)")
    }

    @Test func `Law 33: a queue that was there before is empty in each schedule`() {
        let report = search("static", schedules: 200) { sim in
            let count = Tracked(0, name: "count")
            for name in ["alice", "bob"] {
                sim.spawn(name) { Statics.queue.async { count.value += 1 } }
            }
            sim.finally("both") { count.value == 2 }
        }
        #expect(report.failure == nil, "\(report)")
        // Outside of simulations it is real.
        Statics.queue.async { Statics.item.value = 7 }
        Statics.queue.sync {}
        #expect(Statics.item.value == 7)
    }

    @Test func `Law 33: a static queue on which a deadlock hangs is free in the next schedule`()
        throws
    {
        let program = { @Sendable (sim: SimulatedWorld) in
            sim.spawn("alice") { Statics.queue.sync { DispatchSemaphore(value: 0).wait() } }
        }
        let failure = try #require(search("hangs", program).failure)
        #expect(failure.kind == .lostWakeUp)
        let again = search("hangs", replay: failure.token, program)
        #expect(again.failure?.kind == .lostWakeUp, "\(again)")
        Statics.queue.sync {}
    }

    @Test func `Law 33: a thread outside that gives a job to a queue of the schedule is told`()
        throws
    {
        let report = search("outside", schedules: 50) { sim in
            let queue = DispatchQueue(label: "ours")
            sim.spawn("alice") {
                // A thread that the simulation does not control.
                let isOver = Box(false)
                onThreadOutside {
                    queue.async {}
                    isOver.value = true
                }
                while !isOver.value { sim.yield() }
            }
        }
        let failure = try #require(report.failure)
        #expect(failure.kind == .foreign, "\(failure)")
        #expect(failure.happened.contains("'ours' was given a job"), "\(failure)")
    }

    @Test func `Law 33: a source of Dispatch runs outside, and is told`() throws {
        let report = search("source") { sim in
            sim.spawn("alice") {
                let timer = DispatchSource.makeTimerSource(queue: DispatchQueue(label: "q"))
                timer.schedule(deadline: .now())
                timer.activate()
                timer.cancel()
            }
        }
        let failure = try #require(report.failure)
        #expect(failure.kind == .foreign, "\(failure)")
        #expect(failure.happened.contains("a source of Dispatch"), "\(failure)")
    }

    @Test func `Law 33: a job that is left for later than time goes is told`() throws {
        let report = search("too late") { sim in
            let queue = DispatchQueue(label: "q")
            sim.spawn("alice") { queue.asyncAfter(deadline: .now() + 100_000) {} }
        }
        let failure = try #require(report.failure)
        #expect(failure.kind == .leftover && failure.happened.contains("'q'"), "\(failure)")
    }

    /// Counts its living instances.
    private final class Kept: Sendable {
        static let living = Atomic(0)
        // Relaxed, here and below: it is read when all is over.
        init() { Self.living.add(1, ordering: .relaxed) }
        deinit { Self.living.subtract(1, ordering: .relaxed) }
    }

    @Test func `Law 33: a search frees the jobs that have run, and those that never will`() {
        let passing = search("passing", schedules: 100) { sim in
            let (queue, group) = (DispatchQueue(label: "q"), DispatchGroup())
            sim.spawn("alice") {
                let kept = Kept()
                queue.async(group: group) { _ = kept }
                queue.asyncAfter(deadline: .now() + 1) { _ = kept }
                group.notify(queue: queue) { _ = kept }
                queue.async(execute: DispatchWorkItem { _ = kept })
                queue.sync { _ = kept }
            }
        }
        #expect(passing.failure == nil, "\(passing)")
        // Dispatch refuses to free a suspended queue.
        let queues = Box<[DispatchQueue]>([])
        defer { for queue in queues.value { queue.resume() } }
        let failing = search("failing") { sim in
            let queue = DispatchQueue(label: "q")
            queues.withValue { $0.append(queue) }
            let group = DispatchGroup()
            queue.suspend()
            sim.spawn("alice") {
                let kept = Kept()
                queue.async(group: group) { _ = kept }
                queue.async { _ = kept }
                queue.asyncAfter(deadline: .now() + 100_000) { _ = kept }
                group.notify(queue: queue) { _ = kept }
            }
        }
        #expect(failing.failure?.kind == .leftover, "\(failing)")
        #expect(Kept.living.load(ordering: .relaxed) == 0)
    }
}
