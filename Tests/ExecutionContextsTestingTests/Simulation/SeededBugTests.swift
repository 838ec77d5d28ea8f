import ExecutionContexts
import ExecutionContextsTesting
import Foundation
import SeededBugs
import Testing

/// Simulations find faults that are known, and none where there is none.
///
/// Samples of what `swift run -c release Corpus` does at length.
@Suite(.timeLimit(.minutes(30)))
struct SeededBugTests {
    @Test(arguments: SeededBug.all)
    func `Law 33: a seeded bug is found soon, as what it is, from any seed`(bug: SeededBug) throws {
        for seed in 0..<5 {
            let failure = try #require(bug.search(seed: UInt64(seed)).failure, "seed \(seed)")
            #expect(bug.kinds.contains(failure.kind), "\(failure)")
            #expect(failure.switches <= max(bug.depth, 3), "\(failure)")
        }
    }

    @Test(arguments: SeededBug.firstFour)
    func `Law 33: the best-known bugs are found in thirty schedules`(bug: SeededBug) throws {
        let needed = try (0..<20).map { try #require(bug.search(seed: UInt64($0)).failure).schedule }
        // A sample of what is a 99th percentile over 200 seeds.
        #expect(needed.max()! <= 30, "\(needed.sorted())")
    }

    @Test(arguments: SeededBug.all)
    func `Law 33: without the bug nothing is found`(bug: SeededBug) {
        #expect(bug.search(isMended: true, schedules: 300).failure == nil)
    }

    @Test(arguments: SeededBug.all)
    func `Law 33: a token replays the failure exactly`(bug: SeededBug) throws {
        let found = try #require(bug.search().failure)
        let token = try #require(found.token)
        for _ in 0..<2 {
            let again = try #require(bug.search(replay: token).failure)
            #expect(again.kind == found.kind)
            #expect(again.happened == found.happened)
            #expect(again.story == found.story)
            #expect(again.token == token)
        }
    }

    @Test(arguments: SeededBug.all.filter { $0.depth < 3 })
    func `Law 33: no bug can be shown by fewer switches than it says`(bug: SeededBug) {
        let shortest = bug.search(strategy: .exhaustive(switches: bug.depth)).failure
        #expect(shortest?.switches == bug.depth)
    }

    @Test func `Law 33: a token in the environment replays the one simulation that it belongs to`() async {
        await #expect(processExitsWith: .success) {
            let token = try #require(SeededBug.crossedLocks.search().failure?.token)
            unsafe setenv("EXECUTION_CONTEXTS_REPLAY", token, 1)
            let (again, other) = (SeededBug.crossedLocks.search(), SeededBug.checkThenAct.search())
            precondition(again.schedules == 1 && again.failure?.kind == .deadlock, "\(again)")
            precondition(other.schedules > 1 && other.failure?.kind == .invariant, "\(other)")
        }
    }
}
