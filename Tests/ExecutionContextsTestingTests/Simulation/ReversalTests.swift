import ExecutionContexts
import ExecutionContextsTesting
import SeededBugs
import Testing

/// The portfolio reverses races, one after the other, and walks where objects are shared.
@Suite(.timeLimit(.minutes(30)))
struct ReversalTests {
    /// Each of a few threads does much that concerns nobody, and one thing that concerns another.
    ///
    /// The fault needs the end of one thread between two operations at the beginning of the other.
    /// Among so many operations, chance finds it seldom.
    private static func longWays(_ length: Int, seed: UInt64) -> SimulationReport {
        search("long ways", schedules: 2_000, seed: seed) { sim in
            let flags = (0..<3).map { Tracked(0, name: "flag \($0)") }
            let seen = Tracked([0, 0], name: "seen")
            sim.spawn("reader") {
                let first = flags[0].value
                for _ in 0..<length { sim.step() }
                let second = flags[1].value
                seen.value = [first, second]
            }
            sim.spawn("writer") {
                for _ in 0..<length { sim.step() }
                flags[0].value = 1
                for _ in 0..<length { sim.step() }
                flags[1].value = 1
                for _ in 0..<length { sim.step() }
                flags[2].value = 1
            }
            sim.spawn("late") {
                for _ in 0..<length { sim.step() }
                if flags[2].value == 1 { flags[1].value = 0 }
            }
            sim.finally("not both") { seen.value != [1, 0] }
        }
    }

    @Test(arguments: 0..<10)
    func `Law 33: what two reversals show is found, however long the threads are`(seed: UInt64)
        throws
    {
        let schedules = try [5, 40].map { length in
            try #require(Self.longWays(length, seed: seed).failure, "length \(length)").schedule
        }
        // Twice for the alternation, and again for what chance finds earlier or later.
        #expect(schedules.allSatisfy { $0 <= 120 }, "\(schedules)")
    }

    @Test(
        arguments: [
            "element left after a conflict", "thief looks before it announces", "ABA in a stack",
        ])
    func `Law 33: small programs are searched without repetition`(name: String) async throws {
        let bug = try #require(SeededBug.all.first { $0.name == name })
        for seed in 0..<20 {
            let failure = try #require(await bug.search(seed: UInt64(seed)).failure)
            // By chance alone, a few of these seeds take more than 300.
            #expect(failure.schedule <= 100, "seed \(seed)")
        }
    }

    /// Two threads, each of which writes twice: six orders, of which five reverse something.
    @Test func `Law 33: the report says how many reversals were found and tried`() {
        func report(_ schedules: Int, shared: Bool, _ strategy: SimulationStrategy = .portfolio)
            -> SimulationReport
        {
            search("pairs", schedules: schedules, strategy: strategy) { sim in
                let values = (0..<2).map { Tracked(0, name: "value \($0)") }
                for index in 0..<2 {
                    sim.spawn("thread \(index)") {
                        for _ in 0..<2 { values[shared ? 0 : index].value = index }
                    }
                }
            }
        }
        // Two of the reversals may lead to one order.
        let all = report(100, shared: true)
        #expect(all.reversals! >= 5 && all.triedReversals == all.reversals, "\(all)")
        #expect(
            all.description.contains(
                "Of \(all.reversals!) pairs of operations whose order made a difference, the other order was tried of all."
            ))
        let some = report(4, shared: true)
        #expect(some.triedReversals! < some.reversals!, "\(some)")
        let none = report(100, shared: false)
        #expect(none.reversals == 0 && none.triedReversals == 0)
        #expect(!none.description.contains("pairs"))
        #expect(report(100, shared: true, .walk).reversals == nil)
    }

    @Test func `Law 33: a chance is reversed as a thread is`() throws {
        let report = search("chances", schedules: 200) { sim in
            let sum = Tracked(0, name: "sum")
            sim.spawn("thread") {
                for index in 0..<6 where sim.chance("fault \(index)") == (index % 2 == 0) {
                    sum.value += 1
                }
            }
            sim.finally("not all") { sum.value < 5 }
        }
        #expect(report.failure != nil, "\(report)")
    }

    @Test func `Law 33: the walk looks at what threads share, from any seed`() throws {
        for seed in 0..<8 {
            let report = search(
                "one object of many", schedules: 400, strategy: .walk, seed: UInt64(seed)
            ) { sim in
                let own = (0..<2).map { Tracked(0, name: "own \($0)") }
                let shared = Tracked(0, name: "shared")
                for index in 0..<2 {
                    sim.spawn("thread \(index)") {
                        for _ in 0..<8 {
                            own[index].value += 1
                            shared.value += 1
                        }
                    }
                }
                // Each loses all of the other's additions but one.
                sim.finally("few are lost") { shared.value > 8 }
            }
            #expect(report.failure != nil, "seed \(seed): \(report)")
        }
    }
}
