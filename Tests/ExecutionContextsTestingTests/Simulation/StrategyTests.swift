import ExecutionContexts
import ExecutionContextsTesting
import SeededBugs
import TestSupport
import Testing

/// Every strategy finds faults, and the exhaustive one knows when it has tried all schedules.
@Suite(.patient)
struct StrategyTests {
    @Test(
        arguments: [
            .random, .walk, .priorities(depth: 2), .priorities(depth: 3), .portfolio,
            .exhaustive(switches: 2),
        ]
            as [SimulationStrategy], SeededBug.firstFour)
    func `Law 33: each strategy finds each seeded bug`(strategy: SimulationStrategy, bug: SeededBug)
        throws
    {
        let failure = try #require(bug.search(schedules: 2_000, strategy: strategy).failure)
        #expect(bug.kinds.contains(failure.kind))
        #expect(failure.switches <= 3)
    }

    @Test
    func `Law 33: the exhaustive strategy tries every order of a small program, and reports that`()
    {
        let seen = Tracked<Set<[String]>>([], name: "a word")
        let report = search("orders", schedules: 5_000, strategy: .exhaustive(switches: 4)) { sim in
            let order = Tracked<[String]>([], name: "a word")
            for name in ["a", "b", "c"] {
                sim.spawn(name) {
                    sim.step()
                    order.value += [name]
                }
            }
            sim.finally("seen") {
                seen.value.insert(order.value)
                return true
            }
        }
        #expect(report.isComplete, "\(report)")
        #expect(report.failure == nil)
        #expect(seen.value.filter { $0.count == 3 }.count == 6)
    }

    @Test func `Law 33: a seed determines its search, and different seeds differ`() throws {
        func found(_ seed: UInt64) -> [Int] {
            SeededBug.firstFour.map { $0.search(seed: seed).failure?.schedule ?? 0 }
        }
        let all = (0..<6).map { found(UInt64($0)) }
        #expect(all == (0..<6).map { found(UInt64($0)) })
        #expect(Set(all).count > 1)
    }
}
