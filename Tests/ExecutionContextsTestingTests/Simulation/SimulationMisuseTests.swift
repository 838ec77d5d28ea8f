import ExecutionContexts
import ExecutionContextsTesting
import SeededBugs
import TestSupport
import Testing

/// A simulation that is asked for something that it cannot do reports misuse.
@Suite(.patient)
struct SimulationMisuseTests {
    private func expectMisuse(_ report: SimulationReport, _ part: String) {
        #expect(report.failure?.kind == .misuse, "\(report)")
        #expect(report.failure?.happened.contains(part) == true, "\(report)")
    }

    @Test(arguments: [0, -1])
    func `Law 33: a search of no schedules is refused`(count: Int) {
        expectMisuse(search("none", schedules: count) { _ in }, "Pass at least 1")
    }

    @Test func `Law 33: more waiting jobs than a simulated pool has threads are no lost wake-up`() {
        let report = search("crowd", schedules: 2) { sim in
            let done = Promise<Void>()
            sim.spawn("alice") {
                for _ in 0..<24 { sim.global.execute { try? done.async.wait() } }
                sim.global.execute { done.succeed(()) }
            }
        }
        #expect(report.failure?.kind == .misuse, "\(report)")
        #expect(report.description.contains("24 simulated threads"), "\(report)")
    }

    @Test func `Law 33: the token of another simulation is refused`() throws {
        let token = try #require(SeededBug.crossedLocks.search().failure?.token)
        expectMisuse(SeededBug.checkThenAct.search(replay: token), "belongs to another simulation")
    }

    @Test(arguments: ["", "x", "-", "3", "3-", "3-a-b", "3-a-b-c-d-e", "3-a-b-c-d-e-f"])
    func `Law 33: a malformed token is refused`(wrong: String) {
        expectMisuse(SeededBug.crossedLocks.search(replay: wrong), "cannot be read")
    }

    @Test func `Law 33: a token with one mistyped character is refused, whichever it is`() throws {
        let token = try #require(SeededBug.crossedLocks.search().failure?.token)
        // Another test covers the version, which comes first.
        for index in token.indices.dropFirst(2) {
            var wrongs = "07az.-".map { token[..<index] + String($0) + token[index...].dropFirst() }
            wrongs.append(token[..<index] + token[index...].dropFirst())
            for wrong in wrongs where wrong != token {
                expectMisuse(SeededBug.crossedLocks.search(replay: String(wrong)), "cannot be read")
            }
        }
    }

    @Test func `Law 33: a token that no longer fits the program is a failure`() throws {
        @Sendable func lostUpdate(_ sim: SimulatedWorld) {
            let word = Tracked(0, name: "word")
            for name in ["alice", "bob"] { sim.spawn(name) { word.value += 1 } }
            sim.finally("counted") { word.value == 2 }
        }
        let token = try #require(search("changing", lostUpdate).failure?.token)
        #expect(search("changing", replay: token, lostUpdate).failure?.kind == .invariant)
        // A program that ends before the switch of the token.
        let report = search("changing", replay: token) { sim in sim.spawn("alice") {} }
        let failure = try #require(report.failure)
        #expect(failure.kind == .unfit)
        #expect(failure.happened.contains("search again"), "\(failure)")
    }

    @Test func `Law 33: the token of another version is refused`() throws {
        let token = try #require(SeededBug.crossedLocks.search().failure?.token)
        expectMisuse(
            SeededBug.crossedLocks.search(replay: "9" + token.dropFirst()), "another version")
    }

    @Test func `Law 33: a simulation inside a simulation is refused`() {
        let report = search("outer") { sim in
            sim.spawn("x") { try simulate("inner") { _ in } }
        }
        #expect(report.failure?.kind == .threw)
        #expect(report.failure?.happened.contains("inside another simulation") == true)
    }

    @Test func `Law 33: an invariant must not wait for a lock that a thread owns`() {
        let report = search("nosy") { sim in
            let section = CriticalSection()
            sim.spawn("alice") { section.execute { sim.step() } }
            sim.spawn("bob") {}
            sim.invariant("x") { section.execute { true } }
        }
        expectMisuse(report, "read without a lock")
    }

    @Test func `Law 33: a program with too many threads is refused`() {
        let report = search("crowd") { sim in
            for index in 0..<100 { sim.spawn("thread \(index)") {} }
        }
        expectMisuse(report, "simulate fewer")
    }
}
