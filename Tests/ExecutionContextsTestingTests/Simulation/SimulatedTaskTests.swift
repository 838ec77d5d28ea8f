import ExecutionContexts
import ExecutionContextsTesting
import TestSupport
import Testing

/// The simulation controls async code, and reports tasks that escape it.
@Suite(.patient)
struct SimulatedTaskTests {
    private actor Account {
        private(set) var balance = 100
        private let isMended: Bool

        init(isMended: Bool) { self.isMended = isMended }

        func withdraw(_ amount: Int, asking bank: @Sendable () async -> Void) async {
            guard balance >= amount else { return }
            if !isMended { await bank() }
            balance -= amount
        }
    }

    @Test(arguments: [false, true])
    func `Law 33: an actor that is re-entered between check and act is found`(isMended: Bool) {
        let report = search("actor", schedules: 200) { sim in
            let account = Account(isMended: isMended)
            let balance = Tracked(100, name: "a word")
            for name in ["alice", "bob"] {
                sim.task(name) {
                    await account.withdraw(80) { await Task.yield() }
                    balance.value = await account.balance
                }
            }
            sim.finally("never below zero") { balance.value >= 0 }
        }
        #expect(report.failure?.kind == (isMended ? nil : .invariant), "\(report)")
    }

    @Test func `Law 33: task groups, async let, continuations and sleeps are controlled`() {
        let report = search("async", schedules: 200) { sim in
            let (context, sum) = (sim.serial(named: "db"), Tracked(0, name: "a word"))
            sim.task("parent") {
                async let one = context.run { 1 }
                let two = await withTaskGroup(of: Int.self) { group in
                    for _ in 0..<2 { group.addTask { 1 } }
                    return await group.reduce(0, +)
                }
                try await sim.clock.sleep(for: .seconds(5))
                let three = await withCheckedContinuation { continuation in
                    context.execute { continuation.resume(returning: 3) }
                }
                sum.value = try await one + two + three
            }
            sim.finally("all came") { sum.value == 6 }
            sim.finally("it took five seconds") {
                sim.time.now == ContextInstant(nanoseconds: 5_000_000_000)
            }
        }
        #expect(report.failure == nil, "\(report)")
    }

    @Test func `Law 33: a task that is never resumed is found`() {
        let report = search("stuck task") { sim in
            let promise = Promise<Int>()
            sim.task("waiter") { _ = try await promise.async.get() }
            sim.finally("kept") { withExtendedLifetime(promise) { true } }
        }
        #expect(report.failure?.kind == .lostWakeUp, "\(report)")
        #expect(report.failure?.happened.contains("'waiter'") == true)
    }

    @Test func `Law 33: a detached task runs in the simulation`() {
        let report = search("detached") { sim in
            let (context, value) = (sim.serial(named: "db"), Tracked(0, name: "a word"))
            sim.task("parent") {
                try await Task.detached { try await context.run { value.value = 1 } }.value
            }
            sim.finally("it ran") { value.value == 1 }
        }
        #expect(report.failure == nil, "\(report)")
    }

    @Test(.withoutThreadSanitizer("it has its own functions for new tasks"))
    func `Law 33: a cancelled sleep ends at once`() {
        let report = search("cancelled sleep", schedules: 100) { sim in
            let wasCancelled = Tracked(false, name: "a word")
            sim.task("parent") {
                await withTaskGroup(of: Void.self) { group in
                    group.addTask {
                        do { try await sim.clock.sleep(for: .seconds(50)) } catch {
                            wasCancelled.value = true
                        }
                    }
                    group.cancelAll()
                }
            }
            sim.finally("cancelled") { wasCancelled.value && sim.time.now.nanoseconds == 0 }
        }
        #expect(report.failure == nil, "\(report)")
    }

    @Test func `Law 33: a cancellation handler of the library contains no scheduling point`() {
        let report = search("cancelled tasks", schedules: 1_000) { sim in
            let (main, never, ends) = (sim.main, Promise<Void>(), Tracked(0, name: "a word"))
            sim.spawn("canceller") {
                let waits = sim.global.submitTask { try await never.async.get() }
                let runs = sim.global.submitTask { try await main.run { sim.step() } }
                let sleeps = sim.global.submitTask { try await sim.clock.sleep(for: .seconds(50)) }
                for task in [waits, runs, sleeps] {
                    task.onComplete(on: main) { _ in ends.value += 1 }
                    task.cancel()
                }
            }
            sim.finally("all have ended") { withExtendedLifetime(never) { ends.value == 3 } }
        }
        #expect(report.failure == nil, "\(report)")
    }
}
