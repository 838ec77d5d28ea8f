import Dispatch
import ExecutionContexts
import ExecutionContextsTesting
import Foundation
import TestSupport
import Testing

/// Queues of Dispatch in a simulation: no line of the program is changed.
@Suite(.patient, .dispatchIsSimulated)
struct PlainQueueTests {
    private struct Wrong: Error {}

    @Test func `Law 33: a serial queue runs one job at a time, in order`() {
        let report = search("serial", schedules: 500) { sim in
            let queue = DispatchQueue(label: "log")
            let (lines, isBusy) = (Box<[Int]>([]), Tracked(false, name: "busy"))
            sim.spawn("alice") {
                for number in 0..<4 {
                    queue.async {
                        if isBusy.value { sim.fail("two at a time") }
                        isBusy.value = true
                        lines.withValue { $0.append(number) }
                        isBusy.value = false
                    }
                }
            }
            sim.spawn("bob") {
                queue.sync {
                    if isBusy.value { sim.fail("two at a time") }
                    isBusy.value = true
                    isBusy.value = false
                }
            }
            sim.finally("in order") { lines.value == [0, 1, 2, 3] }
        }
        #expect(report.failure == nil, "\(report)")
        #expect(report.choices > 0, "\(report)")
    }

    @Test func `Law 33: jobs of a concurrent queue race, and a barrier excludes them`() throws {
        func run(_ isBarrier: Bool, _ strategy: SimulationStrategy) -> SimulationReport {
            search("readers", schedules: 20_000, strategy: strategy) { sim in
                let queue = DispatchQueue(label: "store", attributes: .concurrent)
                let count = Tracked(0, name: "count")
                sim.spawn("alice") {
                    queue.async(flags: isBarrier ? .barrier : []) { count.value += 1 }
                }
                sim.spawn("bob") {
                    queue.async(flags: isBarrier ? .barrier : []) { count.value += 1 }
                }
                sim.finally("both") { count.value == 2 }
            }
        }
        let report = run(false, .portfolio)
        let failure = try #require(report.failure, "\(report)")
        #expect(failure.kind == .invariant)
        #expect(failure.description.contains("store"), "\(failure)")
        #expect(run(false, .exhaustive).failure?.kind == .invariant)
        let sound = run(true, .exhaustive)
        #expect(sound.failure == nil && sound.isComplete, "\(sound)")
        #expect(run(true, .portfolio).failure == nil)
    }

    @Test func `Law 33: a failure over queues is replayed by its token`() throws {
        func run(_ token: String? = nil) -> SimulationReport {
            search("replayed", replay: token) { sim in
                let (own, other) = (DispatchQueue(label: "own"), DispatchQueue(label: "other"))
                let value = Tracked(0, name: "value")
                own.async { value.value += 1 }
                other.async { value.value += 1 }
                sim.finally("both") { value.value == 2 }
            }
        }
        let failure = try #require(run().failure)
        let again = try #require(run(failure.token).failure)
        #expect(
            again.kind == failure.kind && again.trace == failure.trace
                && again.token == failure.token)
    }

    @Test func `Law 33: a job that waits for its own queue is a deadlock`() throws {
        let report = search("self") { sim in
            let queue = DispatchQueue(label: "cache")
            sim.spawn("alice") { queue.async { queue.sync {} } }
        }
        let failure = try #require(report.failure)
        #expect(failure.kind == .deadlock, "\(failure)")
        #expect(failure.happened.contains("'cache'"), "\(failure)")
    }

    @Test func `Law 33: two queues that wait for each other are a deadlock, also on one thread`() {
        let report = search("crossed") { sim in
            let (left, right) = (DispatchQueue(label: "left"), DispatchQueue(label: "right"))
            sim.spawn("alice") { left.sync { right.sync {} } }
            sim.spawn("bob") { right.sync { left.sync {} } }
        }
        #expect(report.failure?.kind == .deadlock, "\(report)")
    }

    @Test func `Law 33: a thread runs the job that it waits for itself`() {
        let report = search("own thread", schedules: 200) { sim in
            let outer = DispatchQueue(label: "outer")
            let inner = DispatchQueue(label: "inner", target: outer)
            let lock = NSRecursiveLock()
            for name in ["alice", "bob"] {
                sim.spawn(name) {
                    let thread = Thread.current
                    for queue in [outer, inner] {
                        // Dispatch runs it on the calling thread, which has the lock.
                        let isSame = queue.sync { lock.withLock { Thread.current === thread } }
                        if !isSame { throw Wrong() }
                    }
                }
            }
        }
        #expect(report.failure == nil, "\(report)")
    }

    @Test func `Law 33: delayed jobs run in simulated time`() {
        let report = search("later", schedules: 100, ignoring: [.vacuous]) { sim in
            let queue = DispatchQueue(label: "timer")
            let seen = Box<[Int]>([])
            sim.spawn("alice") {
                let begin = ContinuousClock.now
                queue.asyncAfter(deadline: .now() + 3_000) {
                    seen.withValue { $0.append(Int((ContinuousClock.now - begin) / .seconds(1))) }
                }
                queue.asyncAfter(wallDeadline: .now() + 60) {
                    seen.withValue { $0.append(Int((ContinuousClock.now - begin) / .seconds(1))) }
                }
            }
            sim.finally("in time") { seen.value == [60, 3_000] }
        }
        #expect(report.failure == nil, "\(report)")
    }

    @Test func `Law 33: a program that asks which queue it is on gets the answer of Dispatch`() {
        let report = search("where", schedules: 100) { sim in
            let (key, other) = (DispatchSpecificKey<String>(), DispatchSpecificKey<Int>())
            let outer = DispatchQueue(label: "outer")
            let inner = DispatchQueue(label: "inner", attributes: .concurrent, target: outer)
            outer.setSpecific(key: key, value: "outer")
            inner.setSpecific(key: other, value: 7)
            let checks = Box(0)
            let check = { @Sendable in
                dispatchPrecondition(condition: .onQueue(inner))
                dispatchPrecondition(condition: .onQueue(outer))
                dispatchPrecondition(condition: .notOnQueue(.main))
                let isRight =
                    DispatchQueue.getSpecific(key: key) == "outer"
                    && DispatchQueue.getSpecific(key: other) == 7
                if isRight { checks.withValue { $0 += 1 } }
            }
            sim.spawn("alice") {
                dispatchPrecondition(condition: .notOnQueue(inner))
                inner.async(execute: check)
                inner.sync(execute: check)
                outer.sync { dispatchPrecondition(condition: .onQueueAsBarrier(outer)) }
                outer.async { dispatchPrecondition(condition: .notOnQueue(inner)) }
            }
            sim.finally("all") { checks.value == 2 }
        }
        #expect(report.failure == nil, "\(report)")
    }

    @Test func `Law 33: the main queue is the main actor's, and global queues are concurrent`() {
        let report = search("main", schedules: 300) { sim in
            let (count, isBusy) = (Tracked(0, name: "count"), Tracked(false, name: "busy"))
            let step = { @Sendable in
                if isBusy.value { sim.fail("two on main") }
                isBusy.value = true
                count.value += 1
                isBusy.value = false
            }
            sim.spawn("alice") {
                DispatchQueue.main.async {
                    dispatchPrecondition(condition: .onQueue(.main))
                    MainActor.assumeIsolated { step() }
                }
                DispatchQueue.global().async { DispatchQueue.main.sync(execute: step) }
            }
            sim.task("bob") {
                await MainActor.run {
                    dispatchPrecondition(condition: .onQueue(.main))
                    step()
                }
            }
            sim.finally("all") { count.value == 3 }
        }
        #expect(report.failure == nil, "\(report)")
    }

    @Test func `Law 33: concurrentPerform calls each, on several threads`() throws {
        let report = search("apply") { sim in
            let (count, calls) = (Tracked(0, name: "count"), Box<Set<Int>>([]))
            sim.spawn("alice") {
                DispatchQueue.concurrentPerform(iterations: 5) { index in
                    calls.withValue { _ = $0.insert(index) }
                    count.value += 1
                }
                if calls.value.count != 5 { throw Wrong() }
            }
            sim.finally("none is lost") { count.value == 5 }
        }
        #expect(report.failure?.kind == .invariant, "\(report)")
    }
}

extension SimulatedWorld {
    /// Fails the schedule, for jobs that cannot throw.
    fileprivate func fail(_ message: String) { invariant(message) { false } }
}
