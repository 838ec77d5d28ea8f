import ExecutionContextsTesting
import Foundation
import SeededBugs
import TestSupport
import Testing

/// What the environment says stands in place of a search's parameters. Each test is a process.
@Suite(.patient)
struct SearchEnvironmentTests {
    @Test func `Law 33: the environment says how many schedules, and which seed`() async {
        await #expect(processExitsWith: .success) {
            let expected = await SeededBug.checkThenAct.search(seed: 5).failure?.schedule
            unsafe setenv("EXECUTION_CONTEXTS_SCHEDULES", "7", 1)
            let report = await search("passes", schedules: 1) { sim in
                sim.spawn("one") { sim.step() }
                sim.spawn("two") { sim.step() }
            }
            precondition(report.schedules == 7, "\(report)")
            unsafe setenv("EXECUTION_CONTEXTS_SCHEDULES", "5000", 1)
            unsafe setenv("EXECUTION_CONTEXTS_SEED", "5", 1)
            let found = await SeededBug.checkThenAct.search().failure?.schedule
            precondition(found == expected, "\(String(describing: found))")
        }
    }

    @Test func `Law 33: the environment gives each search its time`() async {
        await #expect(processExitsWith: .success) {
            unsafe setenv("EXECUTION_CONTEXTS_SECONDS", "1", 1)
            let clock = ContinuousClock()
            let start = clock.now
            let report = await search("passes", schedules: 1) { sim in
                sim.spawn("one") { sim.step() }
                sim.spawn("two") { sim.step() }
            }
            precondition(report.failure == nil && report.schedules > 1, "\(report)")
            precondition(clock.now - start >= .seconds(1))
        }
    }

    @Test func `Law 33: the environment gives all searches a time together`() async throws {
        let result = try await #require(
            processExitsWith: .success, observing: [\.standardErrorContent]
        ) {
            unsafe setenv("EXECUTION_CONTEXTS_BUDGET", "1", 1)
            func searched(_ name: String) async -> Int {
                let report = await search(name, schedules: 1_000_000_000) { sim in
                    sim.spawn("one") { sim.step() }
                    sim.spawn("two") { sim.step() }
                }
                precondition(report.failure == nil, "\(report)")
                return report.schedules
            }
            let first = await searched("first")
            precondition(first > 10 && first < 1_000_000_000, "\(first)")
            for name in ["second", "third"] {
                let count = await searched(name)
                precondition(count == 10, "\(count)")
            }
        }
        let text = String(decoding: result.standardErrorContent, as: UTF8.self)
        #expect(text.contains("From 'second' on"))
        #expect(!text.contains("From 'third' on"))
    }

    #if compiler(>=6.3)
    @Test func `Law 33: nights go on with other seeds, by the notes in a file`() async throws {
        let path: String = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
            .path
        defer { try? FileManager.default.removeItem(atPath: path) }
        await #expect(processExitsWith: .success) { [path = path as String] in
            unsafe setenv("EXECUTION_CONTEXTS_NIGHTLY", path, 1)
            for name in ["one", "other", "one"] {
                let report = await search(name, ignoring: [.vacuous]) { _ in }
                precondition(report.failure == nil, "\(report)")
            }
        }
        #expect(
            try String(contentsOfFile: path, encoding: .utf8) == "one\t1\nother\t1\none\t2\n")
    }
    #endif

    @Test func `Law 33: a value that is not understood is told`() async {
        await #expect(processExitsWith: .success) {
            for (name, value) in [
                ("SCHEDULES", "0"), ("SEED", "-1"), ("SECONDS", "soon"), ("BUDGET", "0"),
            ] {
                unsafe setenv("EXECUTION_CONTEXTS_" + name, value, 1)
                let failure = await search("passes") { _ in }.failure
                precondition(failure?.kind == .misuse)
                precondition(failure?.description.contains("'\(value)'") == true)
                unsafe unsetenv("EXECUTION_CONTEXTS_" + name)
            }
        }
    }
}
