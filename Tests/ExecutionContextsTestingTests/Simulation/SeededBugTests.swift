import ExecutionContexts
import ExecutionContextsTesting
import Foundation
import Testing

/// Simulations find faults that are known, and none where there is none.
@Suite(.timeLimit(.minutes(5)))
struct SeededBugTests {
    @Test(arguments: SeededBug.allCases)
    func `Law 33: a seeded bug is found soon, from any seed`(bug: SeededBug) throws {
        var needed: [Int] = []
        for seed in 0..<20 {
            let failure = try #require(bug.search(seed: UInt64(seed)).failure, "seed \(seed)")
            #expect(failure.kind == bug.kind, "\(failure)")
            #expect(failure.switches <= 3, "\(failure)")
            needed.append(failure.schedule)
        }
        // A sample of what is a 99th percentile over 200 seeds.
        #expect(needed.max()! <= 30, "\(needed.sorted())")
    }

    @Test(arguments: SeededBug.allCases)
    func `Law 33: without the bug nothing is found`(bug: SeededBug) {
        #expect(bug.search(isMended: true).failure == nil)
    }

    @Test(arguments: SeededBug.allCases)
    func `Law 33: a token replays the failure exactly`(bug: SeededBug) throws {
        let found = try #require(bug.search().failure)
        let token = try #require(found.token)
        for _ in 0..<5 {
            let again = try #require(bug.search(replay: token).failure)
            #expect(again.kind == found.kind)
            #expect(again.happened == found.happened)
            #expect(again.story == found.story)
            #expect(again.token == token)
        }
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
