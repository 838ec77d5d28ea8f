import Dispatch
import ExecutionContexts
import ExecutionContextsTesting
import Foundation
import SeededBugs
import TestSupport
import Testing

/// Each kind of failure is found, described with names, and replayed.
@Suite(.patient)
struct SimulationFindsTests {
    private struct Wrong: Error {}

    @Test func `Law 33: a call of simulate throws if an invariant is broken`() {
        let place = "SimulationFindsTests.swift:\(#line + 1)"
        let error = #expect(throws: SimulationFailure.self) {
            try simulate("balance") { sim in
                let balance = Tracked(100, name: "balance")
                for name in ["alice", "bob"] {
                    sim.spawn(name) { if balance.value >= 80 { balance.value -= 80 } }
                }
                sim.invariant("never below zero") { balance.value >= 0 }
            }
        }
        #expect(error?.kind == .invariant)
        #expect(
            error?.happened.contains(
                "'never below zero' (\(place)) does not hold: 'balance' is -60.")
                == true)
        #expect(error?.told.contains("reads 'balance' = 100") == true)
        #expect(error?.told.contains("writes 'balance': 20 -> -60") == true)
        #expect(error?.description.contains(" alice ") == true)
        #expect(error?.description.contains("EXECUTION_CONTEXTS_REPLAY=3-") == true)
    }

    @Test func `Law 33: a deadlock names each waiting thread, its lock and the lock's owner`()
        throws
    {
        let failure = try #require(SeededBug.crossedLocks.search().failure)
        #expect(failure.kind == .deadlock)
        #expect(failure.happened.contains("'alice' waits for 'right', which 'bob' holds"))
        #expect(failure.happened.contains("'bob' waits for 'left', which 'alice' holds"))
    }

    @Test func `Law 33: two contexts that wait for each other are a deadlock`() throws {
        let report = search("crossed contexts") { sim in
            let (left, right) = (sim.serial(named: "left"), sim.serial(named: "right"))
            left.execute { right.sync {} }
            right.execute { left.sync {} }
        }
        let failure = try #require(report.failure)
        #expect(failure.kind == .deadlock)
        #expect(
            failure.happened.contains(
                "'left' waits in the queue of 'right', on which 'right' is busy"))
    }

    @Test(arguments: [false, true])
    func `Law 33: a deadlock over a coordinator names its writer or its reader`(aliceWrites: Bool)
        throws
    {
        let report = search("crossed coordinator") { sim in
            let seats = ReadWriteCoordinator(name: "seats", writesOn: sim.serial(named: "writes"))
            let section = CriticalSection(name: "section")
            sim.spawn("alice") {
                aliceWrites
                    ? seats.blockingWrite { section.execute {} }
                    : seats.reading.sync { section.execute {} }
            }
            sim.spawn("bob") {
                section.execute { aliceWrites ? seats.reading.sync {} : seats.blockingWrite {} }
            }
        }
        let failure = try #require(report.failure)
        #expect(failure.kind == .deadlock)
        #expect(
            failure.happened.contains("'alice' waits for 'section', which 'bob' holds"),
            "\(failure)")
        let clause = aliceWrites ? "in which 'alice' writes" : "which 'alice' reads"
        #expect(failure.happened.contains("'bob' waits for 'seats', \(clause)"), "\(failure)")
    }

    @Test
    func
        `Law 33: a deadlock over a coordinator names the write context that earlier writes wait for`()
        throws
    {
        let report = search("busy write context") { sim in
            let writes = sim.serial(named: "writes")
            let seats = ReadWriteCoordinator(name: "seats", writesOn: writes)
            let section = CriticalSection(name: "section")
            sim.spawn("alice") {
                section.execute {
                    writes.execute { section.execute {} }
                    seats.enqueueWrite {}
                    seats.read {}
                }
            }
        }
        let failure = try #require(report.failure)
        #expect(failure.kind == .deadlock)
        #expect(
            failure.happened.contains(
                "'alice' waits for 'seats', in which no thread is: earlier writes wait in the queue of 'writes'"
            ),
            "\(failure)")
        #expect(
            failure.happened.contains("'writes' waits for 'section', which 'alice' holds"),
            "\(failure)")
    }

    @Test func `Law 33: a thread that no other thread will wake is a lost wake-up`() throws {
        let report = search("forgotten") { sim in
            let promise = Promise<Int>()
            sim.spawn("waiter") { _ = try? promise.async.wait() }
            // The promise lives to the end, because releasing it would complete it.
            sim.finally("kept") { withExtendedLifetime(promise) { true } }
        }
        let failure = try #require(report.failure)
        #expect(failure.kind == .lostWakeUp)
        #expect(failure.happened.contains("'waiter' waits to be woken"))
    }

    @Test func `Law 33: a program that never ends is found at the limit of steps`() throws {
        let report = search("spinner", steps: 2_000) { sim in
            let flag = Tracked(false, name: "flag")
            sim.spawn("spinner") { while !flag.value {} }
        }
        #expect(report.failure?.kind == .endless)
    }

    @Test func `Law 33: a thread that polls lets other threads run`() {
        let report = search("polite spinner", schedules: 50) { sim in
            let flag = Tracked(false, name: "flag")
            sim.spawn("spinner") { while !flag.value {} }
            sim.spawn("setter") { flag.value = true }
        }
        #expect(report.failure == nil)
    }

    @Test func `Law 33: locks in opposite orders are found although no schedule can deadlock`()
        throws
    {
        func crossing(_ ignoring: Set<SimulationFailure.Kind> = []) -> SimulationReport {
            search("crossing with limits", schedules: 100, ignoring: ignoring) { sim in
                let (left, right) = (CriticalSection(name: "left"), CriticalSection(name: "right"))
                sim.spawn("alice") { left.execute { _ = right.executeWithTimeout(0.001) {} } }
                sim.spawn("bob") { right.execute { _ = left.executeWithTimeout(0.001) {} } }
            }
        }
        let failure = try #require(crossing().failure)
        #expect(failure.kind == .lockOrder)
        #expect(failure.happened.contains("'left'"))
        #expect(failure.happened.contains("'right'"))
        #expect(crossing([.lockOrder]).failure == nil)
    }

    @Test func `Law 33: opposite orders inside a common lock are no failure`() {
        let report = search("guarded crossing", schedules: 100) { sim in
            let (left, right, outer) = (
                CriticalSection(name: "left"), CriticalSection(), CriticalSection()
            )
            sim.spawn("alice") { outer.execute { left.execute { right.execute {} } } }
            sim.spawn("bob") { outer.execute { right.execute { left.execute {} } } }
        }
        #expect(report.failure == nil)
    }

    @Test
    func `Law 33: a delay beyond the horizon is left over, and reported with its source location`()
        throws
    {
        let report = search("leftover", horizon: .seconds(60)) { sim in
            sim.serial(named: "db").schedule(after: .seconds(61)) {}
        }
        let failure = try #require(report.failure)
        #expect(failure.kind == .leftover)
        #expect(failure.happened.contains("SimulationFindsTests.swift:"))
    }

    @Test(arguments: ["body", "thread", "task", "invariant", "finally"])
    func `Law 33: an error that a closure of the program throws is a failure`(closure: String)
        throws
    {
        let report = search("thrower") { sim in
            switch closure {
            case "body": throw Wrong()
            case "thread": sim.spawn("x") { throw Wrong() }
            case "task": sim.task("x") { throw Wrong() }
            case "invariant": sim.invariant("x") { throw Wrong() }
            default: sim.finally("x") { throw Wrong() }
            }
            sim.spawn("y") {}
        }
        let failure = try #require(report.failure)
        #expect(failure.kind == .threw)
        #expect(failure.happened.contains("threw Wrong()"))
    }

    @Test func `Law 33: a foreign thread that uses a simulated context is reported`() throws {
        // Made outside of the schedule, it is waited for outside.
        let isDone = DispatchSemaphore(value: 0)
        let report = search("stranger") { sim in
            let database = sim.serial(named: "database")
            sim.spawn("alice") {
                onThreadOutside {
                    database.execute {}
                    isDone.signal()
                }
                isDone.wait()
            }
        }
        let failure = try #require(report.failure)
        #expect(failure.kind == .foreign)
        #expect(failure.happened.contains("'database'"))
        #expect(failure.happened.contains("law 33"))
    }

    @Test func `Law 33: a thread that blocks outside the simulation does not hang the test`() throws
    {
        for patience in Patience.hangs {
            let stuck = DispatchSemaphore(value: 0)
            let report = search("blocker", patience: patience) { sim in
                sim.spawn("alice") { stuck.wait() }
            }
            stuck.signal()
            let failure = try #require(report.failure)
            #expect(failure.kind == .blocked)
            if failure.happened.contains("'alice'") { return }
        }
        Issue.record("The blocked thread was never named.")
    }

    @Test func `Law 33: state that outlives a schedule is found`() throws {
        let count = Tracked(0, name: "a word")
        let report = search("static state") { sim in
            count.value += 1
            let steps = count.value
            sim.spawn("alice") { for _ in 0..<steps { sim.step() } }
        }
        let failure = try #require(report.failure)
        #expect(failure.kind == .nondeterminism)
        // The message names the step, and what each run did there.
        #expect(
            failure.happened.contains(
                "They diverge at step 3: in the first run it has ended, in the second 'alice' before "
                    + "its operation 2 continues"))
    }

    @Test func `Law 33: a failure that does not recur is reported as nondeterminism`() throws {
        let count = Tracked(0, name: "a word")
        let report = search("once only", ignoring: [.vacuous]) { sim in
            count.value += 1
            let isWrong = count.value == 3
            sim.spawn("alice") {}
            sim.finally("never wrong") { !isWrong }
        }
        let failure = try #require(report.failure)
        #expect(failure.kind == .nondeterminism)
        #expect(failure.happened.contains("'never wrong'"))
    }

    @Test func `Law 33: a wake-up by a foreign thread is reported, and is not lost`() throws {
        let isDone = DispatchSemaphore(value: 0)
        let report = search("woken from outside") { sim in
            let promise = Promise<Int>()
            sim.spawn("waiter") { _ = try promise.async.wait() }
            sim.spawn("helper") {
                onThreadOutside {
                    promise.succeed(1)
                    isDone.signal()
                }
                isDone.wait()
            }
        }
        // If the foreign thread precedes the wait, the schedule passes.
        let failure = try #require(report.failure)
        #expect(failure.kind == .foreign, "\(failure)")
        #expect(failure.happened.contains("'waiter' was woken by a thread"))
    }
}
