import ExecutionContexts
import TestSupport
import Testing

@testable import ExecutionContextsTesting

/// A replay that finds nothing says whether it followed its token, and where it left it.
@Suite(.patient)
struct TokenPathTests {
    /// Two tellers pay from two accounts, in an order that one process gives to a set and another
    /// does not; the first account is not guarded.
    @Sendable private static func pay(_ sim: SimulatedWorld, _ order: [String], isMended: Bool) {
        let accounts = ["savings", "wages"].map { Tracked(100, name: $0) }
        let section = CriticalSection(name: "bank")
        for teller in ["alice", "bob"] {
            sim.spawn(teller) {
                for account in accounts.sorted(by: { a, _ in a.name == order[0] }) {
                    let isGuarded = isMended || account.name != order[0]
                    if isGuarded {
                        section.execute { account.value -= 10 }
                    } else {
                        account.value -= 10
                    }
                }
            }
        }
        // Only one order shows the fault.
        sim.finally("all was paid") { order[0] == "wages" || accounts[0].value == 80 }
    }

    private func pay(_ order: [String], replay: String? = nil, isMended: Bool = false)
        -> SimulationReport
    {
        search("paying", replay: replay) { Self.pay($0, order, isMended: isMended) }
    }

    @Test func `Law 33: a replay that another order leads off its path fails, and says where`()
        throws
    {
        let found = try #require(pay(["savings", "wages"]).failure)
        #expect(found.kind == .invariant)
        let token = try #require(found.token)
        #expect(pay(["savings", "wages"], replay: token).failure?.token == token)
        let failure = try #require(pay(["wages", "savings"], replay: token).failure)
        #expect(failure.kind == .unfit)
        #expect(failure.happened.contains("left the path of the token at step"), "\(failure)")
        #expect(failure.happened.contains("'wages'"), "\(failure)")
        #expect(failure.happened.contains("SWIFT_DETERMINISTIC_HASHING"), "\(failure)")
        #expect(!failure.trace.isEmpty)
    }

    @Test func `Law 33: a program with other operations before the failure leaves the path`() throws
    {
        let token = try #require(pay(["savings", "wages"]).failure?.token)
        let mended = pay(["savings", "wages"], replay: token, isMended: true)
        #expect(mended.failure?.kind == .unfit)
    }

    @Test func `Law 33: a program that is mended after the same operations passes its replay`()
        throws
    {
        @Sendable func count(_ sim: SimulatedWorld, _ limit: Int) {
            let count = Tracked(0, name: "count")
            for name in ["alice", "bob"] { sim.spawn(name) { count.value += 1 } }
            sim.finally("counted") { count.value >= limit }
        }
        let token = try #require(search("same path", { count($0, 2) }).failure?.token)
        #expect(search("same path", replay: token, { count($0, 2) }).failure?.kind == .invariant)
        #expect(search("same path", replay: token, { count($0, 1) }).failure == nil)
    }

    @Test func `Law 33: a tracked set is the same value in each order of its elements`() throws {
        // The descriptions of two equal sets differ with the order in which they were filled.
        @Sendable func fill(_ sim: SimulatedWorld, _ numbers: [Int], isMended: Bool) {
            let set = Tracked<Set<Int>>([], name: "set")
            for name in ["alice", "bob"] {
                sim.spawn(name) {
                    let old = set.value
                    set.value = old.union(name == "bob" ? [17] : Set(numbers))
                }
            }
            sim.finally("all") { set.value.count == (isMended ? set.value.count : 4) }
        }
        let found = search("filling", { fill($0, [1, 2, 3], isMended: false) }).failure
        let token = try #require(found?.token)
        let again = search("filling", replay: token) { fill($0, [3, 2, 1], isMended: true) }
        #expect(again.failure == nil, "\(again)")
        let other = search("filling", replay: token) { fill($0, [4, 2, 1], isMended: true) }
        #expect(other.failure?.kind == .unfit, "\(other)")
    }

    @Test func `Law 33: a failure tells sets and dictionaries in one order in each run`() throws {
        for seed in 0..<20 {
            let failure = try #require(
                search("collections", seed: UInt64(seed)) { sim in
                    let set = Tracked<Set<String>>([], name: "set")
                    let map = Tracked<[String: [Set<Int>]]>([:], name: "map")
                    sim.spawn("alice") {
                        for letter in "abcdef" { set.value = set.value.union([String(letter)]) }
                        map.value = ["one": [[3, 1, 2], []], "two": [[7, 8]]]
                    }
                    sim.finally("empty") {
                        let (set, map) = (set.value, map.value)
                        return set.isEmpty && map.isEmpty
                    }
                }.failure)
            #expect(failure.kind == .invariant, "\(failure)")
            let story = failure.happened
            #expect(story.contains(#"'set' is ["a", "b", "c", "d", "e", "f"]"#), "\(story)")
            #expect(story.contains(#"["one": [[1, 2, 3], []], "two": [[7, 8]]]"#), "\(story)")
        }
    }

    @Test func `Law 33: a path says exactly, of a short run, at which step another one leaves it`()
        throws
    {
        for steps in [1, 2, 15, 16, 17, 40, 500] {
            for different in [0, 1, steps / 2, steps - 1] where different < steps {
                let (path, other) = (
                    Path(outcome(steps), steps: steps),
                    Path(outcome(steps, different: different), steps: steps)
                )
                #expect(Path(path.text) == path)
                #expect(path.departure(of: path) == nil)
                // One letter in 36 is the same by chance.
                guard let place = path.departure(of: other) else { continue }
                #expect(place.upperBound > different, "\(steps) \(different)")
                #expect(steps > 16 || place.count == 1)
            }
        }
    }

    @Test func `Law 33: a path that ends early is left`() {
        let path = Path(outcome(12), steps: 12)
        #expect(path.departure(of: Path(outcome(9), steps: 12)) != nil)
        #expect(Path("") == nil && Path("2.abc") == nil && Path("x") == nil && Path("2") == nil)
    }

    private func outcome(_ steps: Int, different: Int? = nil) -> Search.Outcome {
        var decisions = DecisionLog()
        for step in 0..<steps {
            decisions.add(thread: 1, operation: step, target: step == different ? 2 : 1)
        }
        return Search.Outcome(
            schedule: Schedule(), decisions: decisions, names: [],
            stepsToFailure: steps, operations: [])
    }
}
