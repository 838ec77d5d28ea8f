import ExecutionContexts
import ExecutionContextsTesting
import Foundation
import TestSupport
import Testing

/// Data races of plain variables.
@Suite(.patient)
struct SharedTests {
    // Unchecked: a section and a lock guard the variables, except where a test leaves them out.
    private final class Inbox: @unchecked Sendable {
        static let line = #line + 1
        @Shared private var letters: [String] = []
        @Shared("owner") private var owner = ""
        private let section = CriticalSection()
        private let lock = NSLock()

        func add(_ letter: String) { section.execute { letters.append(letter) } }
        var count: Int { section.execute { letters.count } }
        var careless: Int { letters.count }

        func rename(_ name: String) { lock.withLock { owner = name } }
        var name: String { lock.withLock { owner } }
        func renameCarelessly(_ name: String) { owner = name }
    }

    @Test(arguments: [SimulationStrategy.portfolio, .random, .priorities(depth: 2), .exhaustive])
    func `Law 33: a variable that one access does not guard is a data race`(
        strategy: SimulationStrategy
    ) throws {
        let program: @Sendable (SimulatedWorld) -> Void = { sim in
            let inbox = Inbox()
            sim.spawn("alice") { inbox.add("hello") }
            sim.spawn("bob") { _ = inbox.careless }
        }
        let failure = try #require(search("inbox", strategy: strategy, program).failure)
        #expect(failure.kind == .dataRace, "\(failure)")
        #expect(failure.happened.contains("'alice'"), "\(failure)")
        #expect(failure.happened.contains("'bob'"), "\(failure)")
        #expect(failure.happened.contains("'SharedTests.swift:\(Inbox.line)'"), "\(failure)")
        #expect(failure.switches == 1)
        let again = search("inbox", replay: failure.token, program).failure
        #expect(again?.kind == .dataRace)
        #expect(again?.happened == failure.happened)
        let ignored = search(
            "inbox", schedules: 200, strategy: strategy, ignoring: [.dataRace], program)
        #expect(ignored.failure == nil, "\(ignored)")
    }

    @Test(arguments: [SimulationStrategy.portfolio, .random, .exhaustive])
    func `Law 33: a variable that a section guards is no data race`(strategy: SimulationStrategy) {
        let schedules = rounds(debug: 500, release: 2_000)
        let report = search("guarded", schedules: schedules, strategy: strategy) { sim in
            let inbox = Inbox()
            for name in ["alice", "bob", "carol"] {
                sim.spawn(name) {
                    inbox.add(name)
                    _ = inbox.count
                }
            }
        }
        #expect(report.failure == nil, "\(report)")
    }

    @Test func `Law 33: a lock that guards another variable does not help`() {
        let report = search("two locks") { sim in
            let inbox = Inbox()
            sim.spawn("alice") { inbox.rename("alice") }
            sim.spawn("bob") { inbox.renameCarelessly("bob") }
        }
        #expect(report.failure?.kind == .dataRace, "\(report)")
        #expect(report.failure?.happened.contains("writes 'owner' while") == true, "\(report)")
    }

    @Test func `Law 33: reads alone are no data race, and neither is what a context orders`() {
        let report = search("ordered", schedules: rounds(debug: 500, release: 2_000)) { sim in
            let (value, serial) = (Shared(0, name: "value"), sim.serial(named: "owner"))
            let isSet = Tracked(false, name: "is set")
            let answer = Shared(0, name: "answer")
            for name in ["alice", "bob"] {
                sim.spawn(name) { serial.execute { value.value += 1 } }
            }
            sim.spawn("carol") {
                answer.value = 42
                isSet.value = true
            }
            for name in ["dora", "emil"] {
                sim.spawn(name) { if isSet.value { _ = answer.value } }
            }
            sim.finally("both counted") { value.value == 2 }
        }
        #expect(report.failure == nil, "\(report)")
    }

    private actor Owner {
        @Shared var value = 0
        func add() async {
            value += 1
            await Task.yield()
            value += 1
        }
    }

    @Test func `Law 33: an actor guards its variables, and tasks without one do not`() async {
        let guarded = await search("actor", schedules: 500) { _ in
            let owner = Owner()
            async let one: Void = owner.add()
            async let two: Void = owner.add()
            _ = await (one, two)
        }
        #expect(guarded.failure == nil, "\(guarded)")
        let careless = await search("tasks") { _ in
            let value = Shared(0, name: "value")
            async let one: Void = Self.add(to: value)
            async let two: Void = Self.add(to: value)
            _ = await (one, two)
        }
        #expect(careless.failure?.kind == .dataRace, "\(careless)")
    }

    private static func add(to value: Shared<Int>) async { value.value += 1 }

    @globalActor private actor Office { static let shared = Office() }
    @Office private static func addInOffice(to value: Shared<Int>) {
        value.value += 1
        value.value += 1
    }
    @MainActor private static func addOnMain(to value: Shared<Int>) {
        value.value += 1
        value.value += 1
    }

    @Test @MainActor
    func `Law 33: a race of two actors ends an exhaustive search, whatever runs after it`() async {
        let report = await search("offices", strategy: .exhaustive) { @MainActor _ in
            let value = Shared(0, name: "value")
            async let one: Void = Self.addInOffice(to: value)
            async let two: Void = Self.addOnMain(to: value)
            _ = await (one, two)
        }
        #expect(report.failure?.kind == .dataRace, "\(report)")
    }

    private struct Telling: Error, CustomStringConvertible {
        let told: Tracked<Int>
        var description: String {
            told.value += 1
            return "told"
        }
    }

    @Test func `Law 33: the story of a value of any type runs no code of the program`() {
        let report = search("any") { sim in
            let (told, failure) = (
                Tracked(0, name: "told"), Tracked<(any Error)?>(nil, name: "failure")
            )
            let count = Tracked(0, name: "count")
            sim.spawn("alice") { failure.value = Telling(told: told) }
            for name in ["bob", "carol"] { sim.spawn(name) { count.value += 1 } }
            sim.finally("counted") { count.value == 2 }
        }
        #expect(report.failure?.kind == .invariant, "\(report)")
    }

    @Test func `Outside of a simulation each access takes a lock`() {
        let value = Shared(0, name: "value")
        DispatchQueue.concurrentPerform(iterations: 1_000) { number in value.value = number }
        #expect((0..<1_000).contains(value.value))
    }
}
