import Dispatch
import ExecutionContexts
import ExecutionContextsTesting
import Foundation
import TestSupport
import Testing

/// Waits at odd places, and what is told of them.
@Suite(.patient, .dispatchIsSimulated)
struct PlainSemaphoreEdgeTests {
    private struct Wrong: Error {}

    // MARK: What is told

    @Test func `Law 33: a deadlock over semaphores is told like one over locks`() throws {
        let report = search("philosophers") { sim in
            let (left, right) = (DispatchSemaphore(value: 1), DispatchSemaphore(value: 1))
            for (name, first, second) in [("alice", left, right), ("bob", right, left)] {
                sim.spawn(name) {
                    first.wait()
                    second.wait()
                    second.signal()
                    first.signal()
                }
            }
        }
        let failure = try #require(report.failure)
        #expect(failure.kind == .deadlock)
        #expect(
            failure.happened.contains("'alice' waits for 'a semaphore 2', which 'bob' has"),
            "\(report)")
        #expect(
            failure.happened.contains("'bob' waits for 'a semaphore', which 'alice' has"),
            "\(report)")
        #if DEBUG
        // The lines of the waits.
        #expect("\(report)".contains("PlainSemaphoreEdgeTests.swift:"), "\(report)")
        #endif
    }

    @Test func `Law 33: a lost signal names who has signalled last`() throws {
        let report = search("last") { sim in
            let semaphore = DispatchSemaphore(value: 0)
            sim.spawn("alice") {
                semaphore.wait()
                semaphore.wait()
            }
            sim.spawn("bob") { semaphore.signal() }
        }
        let failure = try #require(report.failure)
        #expect(failure.kind == .lostWakeUp)
        #expect(
            failure.happened.contains(
                "'alice' waits for 'a semaphore', which 'bob' signalled last"), "\(report)")
        let story = failure.trace.joined(separator: "\n")
        #expect(story.contains("signals 'a semaphore'"), "\(story)")
        #expect(story.contains("waits for 'a semaphore'"), "\(story)")
    }

    // MARK: Odd places

    private static func wait(for semaphore: DispatchSemaphore) { semaphore.wait() }
    private static func wait(for group: DispatchGroup) { group.wait() }

    @Test func `Law 33: a task that waits for a semaphore lets the others run`() async {
        let report = await search("tasks", schedules: 300) { _ in
            let (semaphore, group) = (DispatchSemaphore(value: 0), DispatchGroup())
            group.enter()
            let waiter = Task {
                Self.wait(for: semaphore)
                group.leave()
            }
            Task { semaphore.signal() }
            await waiter.value
            Self.wait(for: group)
        }
        #expect(report.failure == nil, "\(report)")
        let stuck = await search("stuck") { _ in
            let semaphore = DispatchSemaphore(value: 0)
            await Task(name: "waiter") { Self.wait(for: semaphore) }.value
        }
        #expect(stuck.failure?.kind == .lostWakeUp, "\(stuck)")
        #expect(
            stuck.failure?.happened.contains(
                "'waiter' waits for 'a semaphore', which no thread has signalled") == true,
            "\(stuck)")
    }

    private final class Held: Sendable {
        static let gate = DispatchSemaphore(value: 0)
        static let made: Int = {
            gate.wait()
            return 1
        }()
    }

    @Test func `Law 33: a static variable that waits for a permit while it is made ends`() {
        let report = search("making", schedules: 1, patience: Patience.step) { sim in
            let own = DispatchSemaphore(value: 0)
            final class Lazy: Sendable {
                let gate: DispatchSemaphore
                init(_ gate: DispatchSemaphore) { self.gate = gate }
            }
            sim.spawn("maker") {
                Held.gate.signal()
                if Held.made != 1 { throw Wrong() }
                own.signal()
            }
            sim.spawn("other") { own.wait() }
        }
        #expect(report.failure == nil, "\(report)")
    }

    private enum Late {
        // Written by a schedule's body, before its threads begin.
        nonisolated(unsafe) static var gate: DispatchSemaphore?
        static let made: Int = {
            unsafe gate!.wait()
            return 1
        }()
    }

    @Test func `Law 33: others run where a static variable waits for them`() {
        // The first of two schedules makes it, so they differ.
        let report = search("waits for others", schedules: 1, patience: Patience.step) { sim in
            let gate = DispatchSemaphore(value: 0)
            unsafe Late.gate = gate
            sim.spawn("maker") { _ = Late.made }
            sim.spawn("other") { gate.signal() }
        }
        #expect(report.failure?.kind != .blocked, "\(report)")
        #expect(report.failure?.kind != .lostWakeUp, "\(report)")
    }

    @Test func `Law 33: an invariant may try a semaphore, and not wait for it`() {
        func run(_ permits: Int, _ limit: DispatchTime) -> SimulationReport {
            search("invariant", schedules: 20, ignoring: [.vacuous]) { sim in
                let (semaphore, group) = (DispatchSemaphore(value: permits), DispatchGroup())
                if permits == 0 { group.enter() }
                sim.spawn("a") { for _ in 0..<3 { sim.step() } }
                sim.invariant("tries") {
                    if semaphore.wait(timeout: limit) == .success { semaphore.signal() }
                    return group.wait(timeout: limit) == (permits == 0 ? .timedOut : .success)
                }
            }
        }
        #expect(run(1, .distantFuture).failure == nil)
        #expect(run(0, DispatchTime(uptimeNanoseconds: 1)).failure == nil)
        #expect(run(0, .distantFuture).failure?.kind == .misuse)
    }

    @Test func `Law 33: the body of a simulation may wait for its threads`() {
        let report = search("body", schedules: 50, ignoring: [.vacuous]) { sim in
            let (semaphore, group) = (DispatchSemaphore(value: 0), DispatchGroup())
            for number in 0..<2 {
                group.enter()
                sim.spawn("\(number)") {
                    semaphore.signal()
                    group.leave()
                }
            }
            group.wait()
            for _ in 0..<2 { semaphore.wait() }
        }
        #expect(report.failure == nil, "\(report)")
    }

    // MARK: Counts, addresses, ends

    @Test func `Law 33: a signal says whether a thread waited, as Dispatch does`() {
        let report = search("result", schedules: 200) { sim in
            let semaphore = DispatchSemaphore(value: 0)
            for number in 0..<2 { sim.spawn("\(number)") { semaphore.wait() } }
            sim.spawn("signaller") {
                Thread.sleep(forTimeInterval: 1)
                // Both wait by now; one signal wakes one, and another one the other.
                if semaphore.signal() == 0 { throw Wrong() }
                if semaphore.signal() == 0 { throw Wrong() }
                if semaphore.signal() != 0 { throw Wrong() }
                if semaphore.wait(timeout: .now() + 1) == .timedOut { throw Wrong() }
            }
        }
        #expect(report.failure == nil, "\(report)")
    }

    @Test func `Law 33: a wait that times out takes nothing`() {
        let report = search("count", schedules: 500) { sim in
            let semaphore = DispatchSemaphore(value: 2)
            let taken = Tracked(0, name: "taken")
            for number in 0..<4 {
                sim.spawn("\(number)") {
                    for _ in 0..<2 where semaphore.wait(timeout: .now() + 1) == .success {
                        taken.value += 1
                        semaphore.signal()
                        if semaphore.wait(timeout: .now()) == .success { semaphore.signal() }
                    }
                }
            }
            sim.finally("two permits") {
                for _ in 0..<2 where semaphore.wait(timeout: .now()) == .timedOut { return false }
                if semaphore.wait(timeout: .now()) == .success { return false }
                for _ in 0..<2 { semaphore.signal() }
                return true
            }
        }
        #expect(report.failure == nil, "\(report)")
    }

    @Test func `Law 33: an object at the address of an earlier one has a name of its own`() throws {
        let report = search("addresses", schedules: 1) { sim in
            for _ in 0..<100 {
                let (semaphore, group) = (DispatchSemaphore(value: 3), DispatchGroup())
                for _ in 0..<3 { semaphore.wait() }
                for _ in 0..<3 { semaphore.signal() }
                group.enter()
                group.leave()
            }
            let last = DispatchSemaphore(value: 0)
            sim.spawn("waiter") { last.wait() }
        }
        #expect(
            report.failure?.happened.contains(
                "'waiter' waits for 'a semaphore 101', which no thread has signalled") == true,
            "\(report)")
    }

    @Test func `Law 33: a semaphore that is freed with permits taken traps as elsewhere`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent])
        {
            _ = search("freed", schedules: 1) { sim in
                sim.spawn("a") {
                    let semaphore = DispatchSemaphore(value: 1)
                    semaphore.wait()
                }
            }
        }
        let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(text.contains("Simulation 'freed' trapped"), "\(text)")
    }
}
