import ExecutionContexts
import ExecutionContextsTesting
import SeededBugs
import TestSupport
import Testing

/// The portfolio reverses races, one after the other, and walks where objects are shared.
@Suite(.patient)
struct ReversalTests {
    @Test(
        arguments: [
            "element left after a conflict", "thief looks before it announces", "ABA in a stack",
        ])
    func `Law 33: what few switches show is found soon, from any seed`(name: String) async throws {
        let bug = try #require(SeededBug.all.first { $0.name == name })
        for seed in 0..<rounds(debug: 6, release: 20) {
            let failure = try #require(await bug.search(seed: UInt64(seed)).failure)
            // By chance alone, a few of these seeds take more than 300.
            #expect(failure.schedule <= 100, "seed \(seed)")
        }
    }

    /// Two threads write twice each: there are six orders, and five are not the usual one.
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
        // Several reversals may lead to one order.
        let all = report(100, shared: true)
        #expect(all.reversals! >= 5 && all.triedReversals == all.reversals, "\(all)")
        #expect(
            all.description.contains(
                "\(all.reversals!) reversals of two operations or of a chance were found, and \(all.reversals!) tried."
            ))
        let some = report(4, shared: true)
        #expect(some.triedReversals! < some.reversals!, "\(some)")
        let none = report(100, shared: false)
        #expect(none.reversals == 0 && none.triedReversals == 0)
        #expect(!none.description.contains("reversals"))
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
                "one object of many", schedules: 150, strategy: .walk, seed: UInt64(seed)
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
                // Over all operations, a walk takes some 400 schedules to lose as many.
                sim.finally("few are lost") { shared.value > 8 }
            }
            #expect(report.failure != nil, "seed \(seed): \(report)")
        }
    }
}
