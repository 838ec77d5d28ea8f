import ExecutionContexts
import ExecutionContextsTesting
import Foundation
import SeededBugs
import TestSupport
import Testing

/// Simulations find each seeded bug, and find nothing in its twin without the bug.
///
/// These tests are a sample of what `swift run -c release Corpus` checks. In debug builds the three
/// tests over all bugs take turns with them.
@Suite(.patient)
struct SeededBugTests {
    @Test(arguments: sample(SeededBug.all, every: 3))
    func `Law 33: a seeded bug is found from any seed, as one of its kinds, in few switches`(
        bug: SeededBug
    )
        async throws
    {
        for seed in 0..<rounds(debug: 1, release: 5) {
            let failure = try #require(await bug.search(seed: UInt64(seed)).failure, "seed \(seed)")
            #expect(bug.kinds.contains(failure.kind), "\(failure)")
            #expect(failure.switches <= max(bug.depth, 3), "\(failure)")
        }
    }

    @Test(arguments: SeededBug.firstFour)
    func `Law 33: the best-known bugs are found in thirty schedules`(bug: SeededBug) async throws {
        var needed: [Int] = []
        for seed in 0..<rounds(debug: 5, release: 20) {
            needed.append(try #require(await bug.search(seed: UInt64(seed)).failure).schedule)
        }
        // A sample of the seeds; `Corpus` checks the 99th percentile of 200.
        #expect(needed.max()! <= 30, "\(needed.sorted())")
    }

    @Test(arguments: sample(SeededBug.all, every: 3, from: 1))
    func `Law 33: nothing is found in a program without its bug`(bug: SeededBug) async {
        let schedules = rounds(debug: 60, release: 300)
        #expect(await bug.search(isMended: true, schedules: schedules).failure == nil)
    }

    @Test(arguments: sample(SeededBug.all, every: 5, from: 2))
    func `Law 33: a token replays the failure exactly`(bug: SeededBug) async throws {
        let found = try #require(await bug.search().failure)
        let token = try #require(found.token)
        for _ in 0..<rounds(debug: 1, release: 2) {
            let again = try #require(await bug.search(replay: token).failure)
            #expect(again.kind == found.kind)
            #expect(again.happened == found.happened)
            #expect(again.trace == found.trace)
            #expect(again.token == token)
        }
    }

    @Test(arguments: sample(SeededBug.all.filter { $0.depth < 3 }, every: 6))
    func `Law 33: the fewest switches that show a bug are its declared depth`(bug: SeededBug) async
    {
        let shortest = await bug.search(strategy: .exhaustive(switches: bug.depth)).failure
        #expect(shortest?.switches == bug.depth)
    }

    @Test func `Law 33: a token in the environment replays only the simulation that it belongs to`()
        async
    {
        await #expect(processExitsWith: .success) {
            let token = try #require(await SeededBug.crossedLocks.search().failure?.token)
            unsafe setenv("EXECUTION_CONTEXTS_REPLAY", token, 1)
            let (again, other) = await (
                SeededBug.crossedLocks.search(), SeededBug.checkThenAct.search()
            )
            precondition(again.schedules == 1 && again.failure?.kind == .deadlock, "\(again)")
            precondition(other.schedules > 1 && other.failure?.kind == .invariant, "\(other)")
        }
    }
}
