import ExecutionContexts
import ExecutionContextsTesting
import TestSupport
import Testing

/// What usually does not happen is decided by the schedule.
@Suite(.patient)
struct ChanceTests {
    private struct Lost: Error {}

    /// Fails if the second and the fourth of five chances happen.
    @Sendable private static func draw(_ sim: SimulatedWorld) {
        sim.spawn("alice") {
            let drawn = (1...5).map { sim.chance("ticket \($0) wins") }
            if drawn[1] && drawn[3] { throw Lost() }
        }
    }

    @Test(arguments: [SimulationStrategy.portfolio, .random, .walk, .priorities(depth: 2)])
    func `Law 33: a chance is searched, shrunk, told by its name and replayed`(
        strategy: SimulationStrategy
    ) throws {
        for seed in 0..<5 {
            let failure = try #require(
                search("draw", strategy: strategy, seed: UInt64(seed), Self.draw).failure)
            #expect(failure.kind == .threw)
            #expect(failure.switches == 2)
            let story = failure.told
            #expect(story.contains("by chance: ticket 2 wins"), "\(story)")
            #expect(story.contains("by chance: ticket 4 wins"), "\(story)")
            #expect(!story.contains("ticket 1 wins"), "\(story)")
            let again = search("draw", replay: failure.token, Self.draw).failure
            #expect(
                again?.description
                    == failure.description.replacing(
                        "in schedule \(failure.schedule),", with: "in schedule 1,"))
        }
    }

    @Test func `Law 33: nothing happens by chance in the usual order`() {
        let happened = Box(false)
        _ = search("usual", schedules: 1) { sim in
            sim.spawn("alice") { if sim.chance("it rains") { happened.value = true } }
        }
        #expect(!happened.value)
    }

    @Test func `Law 33: the exhaustive strategy tries each answer to each chance`() {
        let seen = Box<Set<[Bool]>>([])
        let report = search("all answers", strategy: .exhaustive) { sim in
            let drawn = Tracked<[Bool]>([], name: "drawn")
            sim.spawn("alice") { drawn.value = (0..<3).map { sim.chance("\($0)") } }
            sim.finally("noted") {
                seen.value = seen.value.union([drawn.value])
                return true
            }
        }
        #expect(report.isComplete)
        #expect(report.orders == 8 && report.schedules == 8, "\(report)")
        #expect(seen.value.count == 8)
    }

    @Test func `Law 33: answers of two threads that share nothing are tried in one order each`() {
        let report = search("two draw", strategy: .exhaustive) { sim in
            for name in ["alice", "bob"] { sim.spawn(name) { _ = sim.chance(name) } }
        }
        #expect(report.isComplete)
        #expect(report.orders == 4, "\(report)")
    }

    @Test func `Law 33: answers and orders are tried together, and none twice`() {
        let ends = Box<Set<[Int]>>([])
        let report = search("both", schedules: 5_000, strategy: .exhaustive) { sim in
            let word = Tracked(0, name: "word")
            for (index, name) in ["alice", "bob"].enumerated() {
                sim.spawn(name) {
                    let old = word.value
                    word.value = old + (sim.chance(name) ? 10 : 1) * (index + 1)
                }
            }
            sim.finally("noted") {
                ends.value = ends.value.union([[word.value]])
                return true
            }
        }
        // Each adds one or ten of its own; either both are counted, or one is lost.
        var expected: Set<[Int]> = []
        for (alice, bob) in [(1, 2), (1, 20), (10, 2), (10, 20)] {
            expected.formUnion([[alice + bob], [alice], [bob]])
        }
        #expect(report.isComplete)
        #expect(ends.value == expected)
    }

    private struct Calls: SequentialModel, Hashable {
        enum Operation: Sendable { case one, other }
        mutating func apply(_ operation: Operation) -> Int { 0 }
    }

    @Test func `Law 33: what a step uses after one answer to a chance is not taken for all of it`()
    {
        // Alice uses the history only if she is not lost, and bob's use comes before or after.
        let report = search("lost calls", schedules: 5_000, strategy: .exhaustive) { sim in
            let (history, log) = (History(of: Calls()), Box<[String]>([]))
            sim.spawn("alice") {
                let call = history.begin(.one, by: "alice")
                log.withValue { $0.append("begin") }
                if sim.chance("lost") { return }
                call.end(0)
                log.withValue { $0.append("end") }
                if sim.chance("second") { log.withValue { $0.append("second") } }
            }
            sim.spawn("bob") {
                let call = history.begin(.other, by: "bob")
                log.withValue { $0.append("bob") }
                call.end(0)
            }
            sim.finally("never") { log.value != ["begin", "bob", "end", "second"] }
        }
        #expect(report.failure?.kind == .invariant || !report.isComplete, "\(report)")
    }

    @Test func `Law 33: a search whose schedules ran in turn at their ends is not complete`() {
        @Sendable func add(_ sim: SimulatedWorld) {
            let sum = Tracked(0, name: "sum")
            sim.spawn("alice") {
                for _ in 0..<25 { sim.step() }
                sum.value += 1
            }
            sim.spawn("bob") { sum.value += 1 }
            sim.finally("both") { sum.value == 2 }
        }
        let cut = search("cut", strategy: .exhaustive(switches: 1), steps: 20, add)
        #expect(cut.failure != nil || !cut.isComplete, "\(cut)")
        #expect(search("whole", strategy: .exhaustive(switches: 1), add).failure != nil)
    }

    @Test func `Law 33: a limit on switches counts chances`() {
        let found = { search("draw", strategy: .exhaustive(switches: $0), Self.draw) }
        #expect(found(1).failure == nil && found(1).isComplete)
        #expect(found(2).failure?.switches == 2)
    }

    @Test func `Law 33: a chance may be asked while the program is built, and in a task`() async {
        let report = await search("built") { sim in
            let isSlow = sim.chance("the disk is slow")
            sim.spawn("alice") { if isSlow { throw Lost() } }
        }
        #expect(report.failure?.switches == 1)
        #expect(
            await search("built", strategy: .exhaustive) { sim in
                let isSlow = sim.chance("the disk is slow")
                sim.spawn("alice") { if isSlow { throw Lost() } }
            }.failure?.switches == 1)
        let tasks = await search("asked") { sim in
            let answer = Task { sim.chance("nobody answers") ? 0 : 1 }
            if await answer.value == 0 { throw Lost() }
        }
        #expect(tasks.failure?.switches == 1, "\(tasks)")
    }

    @Test func `Law 33: a choice is usually its first value, and each other one by chance`() throws
    {
        let seen = Box<Set<Int>>([])
        let report = search("statuses", strategy: .exhaustive) { sim in
            let status = Tracked(0, name: "status")
            sim.spawn("server") { status.value = sim.choice("it answers", of: [200, 404, 503]) }
            sim.finally("noted") {
                seen.value = seen.value.union([status.value])
                return true
            }
        }
        #expect(report.orders == 3)
        #expect(seen.value == [200, 404, 503])
        let failure = search("statuses") { sim in
            sim.spawn("server") {
                if sim.choice("it answers", of: [200, 404, 503]) == 503 { throw Lost() }
            }
        }.failure
        #expect(failure?.told.contains("it answers 503") == true)
        #expect(failure?.switches == 1)
    }

    @Test func `Law 33: a chance in a condition does not happen`() {
        let report = search("odd", schedules: 50, ignoring: [.vacuous]) { sim in
            sim.spawn("alice") { sim.step() }
            sim.invariant("calm") { !sim.chance("storm") }
        }
        #expect(report.failure == nil)
    }

    @Test func `Law 33: programs drawn at random end in every way that their chances allow`() {
        for seed in 0..<rounds(debug: 30, release: 200) {
            var rng = SeededRNG(seed: UInt64(seed))
            let threads = Int.random(in: 1...2, using: &rng)
            let asked = (0..<threads).map { _ in Int.random(in: 1...3, using: &rng) }
            let ends = Box<Set<[Int]>>([])
            let report = search("drawn", schedules: 20_000, strategy: .exhaustive) { sim in
                let sums = (0..<threads).map { Tracked(0, name: "sum \($0)") }
                for thread in 0..<threads {
                    sim.spawn("\(thread)") {
                        for place in 0..<asked[thread] where sim.chance("\(place)") {
                            sums[thread].value += 1 << place
                        }
                    }
                }
                sim.finally("noted") {
                    ends.value = ends.value.union([sums.map(\.value)])
                    return true
                }
            }
            #expect(report.isComplete, "seed \(seed)")
            #expect(ends.value.count == asked.reduce(1) { $0 << $1 }, "seed \(seed)")
            #expect(report.orders == ends.value.count, "seed \(seed)")
        }
    }
}
