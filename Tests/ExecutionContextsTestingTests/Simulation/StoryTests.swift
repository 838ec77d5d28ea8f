import ExecutionContexts
import ExecutionContextsTesting
import Foundation
import TestSupport
import Testing

/// The story of a failure, for a terminal and for a browser.
@Suite(.patient)
struct StoryTests {
    /// The failure in which the first of some threads loses the updates of the others.
    private func failure(_ names: [String], variable: String = "count") throws -> SimulationFailure
    {
        try #require(
            search("story") { sim in
                let count = Tracked(0, name: variable)
                for name in names { sim.spawn(name) { count.value += 1 } }
                sim.finally("all counted") { count.value == names.count }
            }.failure)
    }

    @Test func `Each thread has a column, and a switch is an arrow between two`() throws {
        let failure = try failure(["alice", "bob"])
        #expect(failure.switches == 1)
        #expect(
            failure.trace == [
                "alice                  | bob                    | the checks at the end",
                "-----------------------+------------------------+----------------------",
                "reads 'count' = 0      |                        |",
                "  ------ switch 1 ------>                       |",
                "                       | reads 'count' = 0      |",
                "                       | writes 'count': 0 -> 1 |",
                "                       | ends                   |",
                "writes 'count': 1 -> 1 | <...................   |",
                "ends                   |                        |",
                "  ............................................> | reads 'count' = 1",
                "                       |                        | ends",
            ])
    }

    @Test func `A switch is explained by what it interrupts`() throws {
        let between = "between \"reads 'count' = 0\" and \"writes 'count': 1 -> 1\" of 'alice'"
        let text = try failure(["alice", "bob"]).description
            // A debug build has the lines.
            .replacing(#/ \(StoryTests.swift:\d+\)/#, with: "")
        #expect(text.contains("at switch 1, 'bob' runs \(between)"), "\(text)")
    }

    @Test func `An operation of a history is told where it begins, and with its answer`() throws {
        let failure = try #require(
            search("story of operations") { sim in
                let till = Tracked(0, name: "till")
                let history = History(of: Till())
                for name in ["alice", "bob"] {
                    sim.spawn(name) {
                        history.record(.deposit(5)) {
                            till.value += 5
                            return till.value
                        }
                    }
                }
                sim.expectLinearizable(history)
            }.failure)
        #expect(failure.kind == .history)
        #expect(
            failure.trace == [
                "alice                 | bob",
                "----------------------+----------------------",
                "begins deposit(5)     |",
                "reads 'till' = 0      |",
                "  ----- switch 1 ------>",
                "                      | begins deposit(5)",
                "                      | reads 'till' = 0",
                "                      | writes 'till': 0 -> 5",
                "                      | reads 'till' = 5",
                "                      | deposit(5) = 5",
                "                      | ends",
                "writes 'till': 5 -> 5 | <..................",
                "reads 'till' = 5      |",
                "deposit(5) = 5        |",
                "ends                  |",
            ], "\(failure)")
    }

    @Test func `A job is told with its label, and the drain of a view with the view's name`() throws
    {
        struct Found: Error {}
        let failure = try #require(
            search("labels") { sim in
                let db = sim.serial(named: "db")
                db.execute {}
                db.labeled("load").execute {}
                sim.global.serial(named: "index").execute {}
                sim.finally("found") { throw Found() }
            }.failure)
        let texts = failure.trace.joined(separator: "\n")
        #expect(texts.contains("begins a job of 'db': load"), "\(failure)")
        #expect(texts.contains("drain of 'index'"), "\(failure)")
        #expect(failure.trace.count { $0.contains("load") } == 1, "\(failure)")
    }

    private struct Till: SequentialModel, Hashable {
        enum Operation: Sendable { case deposit(Int) }
        private var sum = 0
        mutating func apply(_ operation: Operation) -> Int {
            if case .deposit(let amount) = operation { sum += amount }
            return sum
        }
    }

    @Test func `The page has an arrow for each line of the text with one`() throws {
        let failure = try failure(["alice", "bob"])
        let rows = failure.page.components(separatedBy: "<tr").dropFirst(2)
        func count(_ kind: String, _ direction: String) -> Int {
            rows.count { $0.hasPrefix(" class=\(kind)>") && $0.contains("'arrow \(direction)'") }
        }
        #expect(count("change", "right") == failure.trace.count { $0.contains("-->") })
        #expect(count("passes", "right") == failure.trace.count { $0.contains(".>") })
        #expect(count("passes", "left") == failure.trace.count { $0.contains("<.") })
        #expect(failure.trace.contains { $0.contains("<.") })
    }

    @Test func `A long text is broken between words, and a long word where the column ends`() throws
    {
        let variable = "a name of several words, and " + String(repeating: "x", count: 60)
        let failure = try failure(["alice", "bob"], variable: variable)
        for line in failure.trace + failure.description.split(separator: "\n").map(String.init)
        where line.contains(" | ") {
            #expect(line.count <= 100, "\(line)")
        }
        #expect(failure.trace.contains { $0.hasPrefix("reads 'a name of") })
    }

    @Test func `Of many threads each line has its thread`() throws {
        let names = (1...8).map { "thread \($0)" }
        let failure = try failure(names)
        #expect(failure.trace.contains("thread 1: reads 'count' = 0"), "\(failure)")
        #expect(failure.trace.contains { $0.hasPrefix("-> switch 1: 'thread") }, "\(failure)")
    }

    @Test func `Of a long story the beginning and the end are told`() throws {
        struct Late: Error {}
        let failure = try #require(
            search("long") { sim in
                let count = Tracked(0, name: "count")
                sim.spawn("alice") {
                    for _ in 0..<200 { count.value += 1 }
                    throw Late()
                }
            }.failure)
        #expect(failure.trace.count < 70)
        #expect(failure.trace.contains("..."))
        #expect(failure.trace.contains { $0.hasPrefix("writes 'count': 0 -> 1") })
        #expect(failure.trace.contains { $0.hasPrefix("writes 'count': 199 -> 200") })
    }

    @Test func `Of a long story each switch is told, with what surrounds it`() throws {
        let failure = try #require(
            search("a long story") { sim in
                let (count, other) = (Tracked(0, name: "count"), Tracked(0, name: "other"))
                sim.spawn("alice") {
                    for _ in 0..<100 { other.value += 1 }
                    count.value += 1
                    for _ in 0..<100 { other.value += 1 }
                }
                sim.spawn("bob") { count.value += 1 }
                sim.finally("both") { count.value == 2 }
            }.failure)
        let trace = failure.trace
        #expect(trace.count < 100, "\(failure)")
        #expect(trace.count { $0 == "..." } == 2, "\(failure)")
        #expect(trace.count { $0.contains("reads 'count' = 0") } == 2, "\(failure)")
        #expect(trace.count { $0.contains("writes 'count': 0 -> 1") } == 1, "\(failure)")
        #expect(trace.contains { $0.contains("writes 'other': 0 -> 1") }, "\(failure)")
        #expect(trace.contains { $0.contains("writes 'other': 199 -> 200") }, "\(failure)")
    }

    @Test func `Time and chances are told`() throws {
        let failure = try #require(
            search("timed", time: .racing) { sim in
                let (isLate, timers) = (Tracked(false, name: "late"), sim.serial(named: "timers"))
                timers.schedule(after: .seconds(2)) { isLate.value = true }
                sim.spawn("alice") {
                    if sim.chance("the answer is lost") { isLate.value = true }
                }
                sim.finally("in time") { !isLate.value }
            }.failure)
        let story = failure.told
        #expect(
            story.contains("by chance: the answer is lost (switch 1)")
                || story.contains("time is 2.0 seconds"), "\(story)")
    }

    @Test func `Each switch that is counted is told, time that passes as well`() throws {
        struct Late: Error {}
        for seed in UInt64(0)..<5 {
            let failure = try #require(
                search("racing", time: .racing, seed: seed) { sim in
                    let (isLate, timers) = (
                        Tracked(false, name: "late"), sim.serial(named: "timers")
                    )
                    timers.schedule(after: .seconds(2)) { isLate.value = true }
                    sim.spawn("alice") {
                        sim.step()
                        if isLate.value { throw Late() }
                    }
                }.failure)
            let story = failure.told
            #expect(failure.switches > 0)
            #expect(story.contains("by chance: time passes (switch"), "\(story)")
            for number in 1...failure.switches {
                #expect(story.contains("switch \(number)"), "\(story)")
            }
        }
    }

    @Test func `The page has the same rows, and shows the program's texts as they are`() throws {
        let failure = try failure(["<alice>", "bob & co"])
        let page = failure.page
        #expect(page.hasPrefix("<!doctype html>"))
        #expect(page.contains("<th>&lt;alice&gt;</th><th>bob &amp; co</th>"), "\(page)")
        #expect(page.contains("writes 'count': 0 -&gt; 1"))
        #expect(page.contains("switch 1"))
        #expect(page.contains(failure.token!))
        #expect(!page.contains("<alice>"))
        // Each row has as many cells as there are columns.
        let columns = page.components(separatedBy: "<th>").count - 1
        for row in page.components(separatedBy: "<tr").dropFirst(2) {
            let cells = row.components(separatedBy: "<td").dropFirst()
            let width = cells.reduce(0) { width, cell in
                let span = cell.firstMatch(of: #/colspan=(\d+)/#).flatMap { Int($0.1) }
                return width + (span ?? 1)
            }
            #expect(width == columns, "\(row)")
        }
    }

    @Test func `No text of the program is part of the page, and a break is none of a column`()
        throws
    {
        let failure = try failure(["\u{600}<img src=x onerror=alert(1) \u{600}>", "bob\nby"])
        #expect(
            !failure.page.unicodeScalars.split(separator: "<").contains {
                String($0).hasPrefix("img")
            })
        #expect(failure.trace[0].contains("bob by"), "\(failure)")
    }

    @Test func `A condition that fails is told with its line`() throws {
        let failure = try failure(["alice", "bob"])
        #expect(failure.happened.contains("'all counted' (StoryTests.swift:"), "\(failure)")
    }
}
