import ExecutionContexts
import ExecutionContextsTesting
import TestSupport
import Testing

/// A report names the operations whose order made a difference, and the orders in which they came.
@Suite(.patient)
struct ConflictingPairTests {
    /// Alice writes the balance, and Bob reads it; each also uses what the other does not.
    private func bank(_ schedules: Int, _ strategy: SimulationStrategy = .portfolio)
        -> SimulationReport
    {
        search("bank", schedules: schedules, strategy: strategy) { sim in
            let balance = Tracked(0, name: "balance")
            let notes = Tracked(0, name: "notes")
            sim.spawn("alice") { balance.value = 1 }
            sim.spawn("bob") {
                notes.value = 1
                _ = balance.value
            }
        }
    }

    @Test(arguments: [SimulationStrategy.portfolio, .exhaustive])
    func `Law 33: a pair is named, and seen in both orders`(_ strategy: SimulationStrategy) throws {
        let report = bank(100, strategy)
        let pair = try #require(report.pairs?.first)
        #expect(report.pairs?.count == 1)
        #expect(pair.object == "balance")
        #expect(Set([pair.first, pair.second]) == ["'alice' writes", "'bob' reads"])
        #expect(pair.inOrder > 0 && pair.reversed > 0)
        #expect(report.description.contains("1 pair of operations conflicted, and 1 came in both"))
        #expect(pair.description.contains("'alice' writes 'balance'"), "\(pair)")
    }

    @Test func `Law 33: a search that ends early says which pairs came in one order only`() throws {
        let report = bank(2)
        let pair = try #require(report.pairs?.first)
        #expect(pair.reversed == 0)
        #expect(pair.description.contains("only in this order"), "\(pair)")
        #expect(report.description.contains("1 pair of operations conflicted, and 0 came in both"))
        #expect(report.page.contains("never"))
    }

    @Test func `Law 33: threads that share nothing, or are ordered, have no pair`() {
        let report = search("ordered", schedules: 200) { sim in
            let values = (0..<2).map { Tracked(0, name: "value \($0)") }
            let context = sim.serial(named: "own")
            sim.spawn("alice") {
                values[0].value = 1
                context.execute { values[0].value = 2 }
            }
            sim.spawn("bob") { values[1].value = 1 }
        }
        #expect(report.pairs == [])
        #expect(!report.description.contains("conflicted"))
    }

    /// If Alice is first in the section, it puts her write before Bob's read: an order as well.
    @Test(arguments: [SimulationStrategy.portfolio, .exhaustive])
    func `Law 33: an order that a lock makes is seen, too`(_ strategy: SimulationStrategy) throws {
        let report = search("across a section", schedules: 500, strategy: strategy) { sim in
            let value = Tracked(0, name: "value")
            let section = CriticalSection()
            sim.spawn("alice") {
                value.value = 1
                section.execute {}
            }
            sim.spawn("bob") {
                section.execute {}
                _ = value.value
            }
        }
        let pair = try #require(report.pairs?.first { $0.object == "value" })
        #expect(pair.inOrder > 0 && pair.reversed > 0, "\(pair)")
    }

    @Test func `Law 33: two searches list the same pairs in the same order`() {
        func pairs() -> [ConflictingPair]? {
            search("again", schedules: 60) { sim in
                let values = (0..<4).map { Tracked(0, name: "value \($0)") }
                for name in ["alice", "bob", "carol"] {
                    sim.spawn(name) { for value in values { value.value += 1 } }
                }
            }.pairs
        }
        let first = pairs()
        #expect(first?.count ?? 0 > 10)
        #expect(pairs() == first)
    }

    @Test func `Law 33: locks and contexts are objects, too`() throws {
        let report = search("locks", schedules: 200) { sim in
            let section = CriticalSection()
            let context = sim.serial(named: "own")
            for name in ["alice", "bob"] {
                sim.spawn(name) {
                    section.execute {}
                    context.execute {}
                }
            }
        }
        let pairs = try #require(report.pairs)
        #expect(pairs.contains { $0.object == "own" && $0.reversed > 0 }, "\(pairs)")
        #expect(pairs.contains { $0.first == "'alice' takes" && $0.reversed > 0 }, "\(pairs)")
    }

    @Test func `Law 33: strategies that look at no steps have no pairs`() {
        #expect(bank(10, .walk).pairs == nil)
        #expect(bank(10, .random).pairs == nil)
    }

    @Test func `Law 33: the page has the pairs, and names cannot become a part of it`() {
        let report = search("<b>", schedules: 100) { sim in
            let value = Tracked(0, name: "<script>")
            for name in ["<i>", "&"] { sim.spawn(name) { value.value += 1 } }
        }
        #expect(report.page.contains("<td>&lt;script&gt;</td>"))
        #expect(report.page.contains("'&lt;i&gt;' reads"))
        for tag in ["<b>", "<i>", "<script>"] { #expect(!report.page.contains(tag)) }
    }

    @Test func `Law 33: the page of a failure is its story`() throws {
        let report = search("failing", schedules: 100) { sim in
            let value = Tracked(0, name: "value")
            for name in ["alice", "bob"] { sim.spawn(name) { value.value += 1 } }
            sim.finally("both counted") { value.value == 2 }
        }
        #expect(try report.page == #require(report.failure).page)
    }
}
