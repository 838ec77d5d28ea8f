import ExecutionContexts
import ExecutionContextsTesting
import Foundation
import Synchronization
import TestSupport
import Testing

/// Locks and conditions of the system, for which a job blocks its thread.
@Suite(.patient, .systemIsSimulated)
struct PlainTaskWaitTests {
    private struct Wrong: Error {}

    private final class Mailbox: Sendable {
        private let condition = NSCondition()
        private let letters = Mutex(0)

        func post() {
            condition.lock()
            letters.withLock { $0 += 1 }
            condition.signal()
            condition.unlock()
        }

        /// Returns false if no letter comes until the date.
        func take(by date: Date) -> Bool {
            condition.lock()
            defer { condition.unlock() }
            while letters.withLock({ $0 == 0 }) {
                if !condition.wait(until: date) { return false }
            }
            letters.withLock { $0 -= 1 }
            return true
        }
    }

    private static func take(_ mailbox: Mailbox, within seconds: Double) -> Bool {
        mailbox.take(by: Date() + seconds)
    }

    @Test func `Law 33: a job that waits for a condition lets the others run`() async {
        let report = await search("condition", schedules: 300) { sim in
            let mailbox = Mailbox()
            let taken = Task { Self.take(mailbox, within: 60) }
            try await Task.sleep(for: .seconds(50))
            sim.spawn("postman") { mailbox.post() }
            if await !taken.value { throw Wrong() }
        }
        #expect(report.failure == nil, "\(report)")
    }

    @Test func `Law 33: a wait with a time limit ends by simulated time`() async {
        let report = await search("no letter", schedules: 100, ignoring: [.vacuous]) { _ in
            let start = Date()
            if Self.take(Mailbox(), within: 600) { throw Wrong() }
            if Date().timeIntervalSince(start) != 600 { throw Wrong() }
        }
        #expect(report.failure == nil, "\(report)")
    }

    private static func hold(_ lock: NSLock, _ body: () -> Void) {
        lock.lock()
        defer { lock.unlock() }
        body()
    }

    private static func isFree(_ lock: NSLock, within seconds: Double) -> Bool {
        guard lock.lock(before: Date() + seconds) else { return false }
        lock.unlock()
        return true
    }

    @Test(arguments: [(90.0, true), (30, false)])
    func `Law 33: a lock is waited for until its limit`(_ limit: Double, _ isTaken: Bool) async {
        let report = await search("before", schedules: 100) { _ in
            let lock = NSLock()
            let holder = Task { Self.hold(lock) { Thread.sleep(forTimeInterval: 60) } }
            try await Task.sleep(for: .seconds(1))
            if Self.isFree(lock, within: limit) != isTaken { throw Wrong() }
            await holder.value
        }
        #expect(report.failure == nil, "\(report)")
    }

    private static func waitForEver(_ condition: NSCondition) {
        condition.lock()
        condition.wait()
        condition.unlock()
    }

    @Test func `Law 33: a condition that nothing signals is found`() async {
        let report = await search("no signal") { _ in
            await Task.yield()
            Self.waitForEver(NSCondition())
        }
        #expect(report.failure?.kind == .lostWakeUp)
        #expect(
            report.failure?.happened.contains("'the test' waits for a condition of the system")
                == true, "\(report)")
    }

    @Test func `Law 33: an invariant that reads a lock which a task holds is misuse`() async {
        let report = await search("invariant") { sim in
            let stock = Mutex(1)
            sim.invariant("in stock") { stock.withLock { $0 >= 0 } }
            await Task.yield()
            let refill = stock.withLock { stock in
                stock += 1
                return Task {}
            }
            await refill.value
        }
        #expect(report.failure?.kind == .misuse, "\(report)")
    }

    private final class Counter: Sendable {
        let count = Mutex(0)
    }

    private final class Sleeper: Sendable {
        deinit { Thread.sleep(forTimeInterval: 0.2) }
    }

    private final class Token: Sendable {
        private let counter: Counter
        init(_ counter: Counter) { self.counter = counter }
        deinit { counter.count.withLock { $0 += 1 } }
    }

    @Test func `Law 33: a deinit at the end of a task waits for a lock in the simulation`() async {
        await expectNoFailure("deinit") { _ in
            let counter = Counter()
            Task {
                counter.count.withLock { count in
                    Task {}; count += 1
                }
            }
            Task { Token(counter) }
            Task { Sleeper() }
        }
    }

    @Test func `Law 33: a signal wakes one of those that wait`() {
        final class Flags: Sendable {
            let condition = NSCondition()
            let set = Mutex<Set<String>>([])

            func wait(for flag: String) {
                condition.lock()
                while set.withLock({ !$0.contains(flag) }) { condition.wait() }
                condition.unlock()
            }

            func set(_ flag: String, toAll: Bool) {
                condition.lock()
                set.withLock { _ = $0.insert(flag) }
                if toAll { condition.broadcast() } else { condition.signal() }
                condition.unlock()
            }
        }
        func run(toAll: Bool) -> SimulationReport {
            search("flags") { sim in
                let flags = Flags()
                for flag in ["a", "b"] {
                    sim.spawn("waits for \(flag)") { flags.wait(for: flag) }
                }
                for flag in ["b", "a"] {
                    sim.spawn("sets \(flag)") { flags.set(flag, toAll: toAll) }
                }
            }
        }
        #expect(run(toAll: false).failure?.kind == .lostWakeUp)
        #expect(run(toAll: true).failure == nil)
    }

    @Test func `Law 33: a mutex that is waited for is no proof`() {
        let report = search("locks", schedules: 100, strategy: .exhaustive) { sim in
            let waits = Waits()
            for name in ["a", "b"] {
                sim.spawn(name) { waits.count.withLock { _ in sim.step() } }
            }
        }
        #expect(!report.isComplete && report.failure == nil)
    }

    /// Of one search: a schedule that is given up leaves the lock taken for ever.
    private final class Waits: Sendable {
        let count = Mutex(0)
    }

    private static func waitForOwnThread(_ waits: Waits) {
        waits.count.withLock { count in
            let condition = NSCondition()
            let thread = Thread {
                condition.lock()
                condition.signal()
                condition.unlock()
            }
            condition.lock()
            thread.start()
            condition.wait()
            condition.unlock()
            count += 1
        }
    }

    @Test func `Law 33: a wait for a thread outside, with a lock taken, is reported`() async {
        let waits = Waits()
        let report = await search("own thread", schedules: 3) { _ in
            await Task.yield()
            Self.waitForOwnThread(waits)
        }
        #expect(report.failure?.kind == .lostWakeUp, "\(report)")
        #expect(report.description.contains("with a test double"), "\(report)")
        #expect(report.failure?.token != nil)
        let ignoring = await search("ignored", schedules: 1, ignoring: [.vacuous, .lostWakeUp]) {
            _ in
            await Task.yield()
            Self.waitForEver(NSCondition())
        }
        #expect(ignoring.failure == nil, "\(ignoring)")
    }
}
