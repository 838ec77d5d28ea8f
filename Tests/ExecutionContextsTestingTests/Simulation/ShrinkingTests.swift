import ExecutionContexts
import ExecutionContextsTesting
import TestSupport
import Testing

/// What a search chooses, and what is left of a schedule when it is told.
@Suite(.patient)
struct ShrinkingTests {
    /// Deadlocks if each has taken the fork on the left.
    private func philosophers(_ count: Int) throws -> SimulationFailure {
        let report = search("philosophers", ignoring: [.lockOrder]) { sim in
            let forks = (0..<count).map { CriticalSection(name: "fork \($0)") }
            for place in 0..<count {
                sim.spawn("philosopher \(place)") {
                    forks[place].execute { forks[(place + 1) % count].execute {} }
                }
            }
        }
        return try #require(report.failure)
    }

    @Test(arguments: [3, 5, 7].prefix(rounds(debug: 2, release: 3)))
    func `Law 33: a deadlock of many keeps no more switches than there are threads`(_ count: Int)
        throws
    {
        let failure = try philosophers(count)
        #expect(failure.kind == .deadlock)
        #expect(failure.switches <= count, "\(failure)")
    }

    @Test func `Law 33: of many threads the story keeps the two that matter`() throws {
        let report = search("careless", schedules: 5_000) { sim in
            let section = CriticalSection()
            let value = Tracked(0, name: "value")
            for number in 1..<40 {
                sim.spawn("thread \(number)") { section.execute { value.value += 1 } }
            }
            sim.spawn("careless") { value.value += 1 }
            sim.finally("all counted") { value.value == 40 }
        }
        let failure = try #require(report.failure)
        #expect(failure.switches == 1, "\(failure)")
    }

    @Test func `Law 33: jobs of a concurrent context begin in any order`() throws {
        let report = search("begins", schedules: 200) { sim in
            let order = Locked<[Int]>([])
            for number in 1...2 { sim.global.execute { order.withLock { $0.append(number) } } }
            sim.finally("in order") { order.withLock { $0 } == [1, 2] }
        }
        let failure = try #require(report.failure)
        #expect(failure.kind == .invariant)
        #expect(failure.switches == 1, "\(failure)")
    }

    @Test(
        arguments: [.random, .walk, .priorities(depth: 3), .portfolio] as [SimulationStrategy])
    func `Law 33: a loop that tries again is not endless where others get their turn`(
        _ strategy: SimulationStrategy
    ) {
        let report = search("retries", schedules: 300, strategy: strategy, steps: 200) { sim in
            let isSet = Tracked(false, name: "flag")
            for name in ["one", "two"] { sim.spawn(name) { while !isSet.value {} } }
            sim.spawn("setter") { isSet.value = true }
        }
        #expect(report.failure == nil, "\(report)")
    }

    @Test func `Law 33: a loop that never ends is told`() throws {
        let report = search("endless", schedules: 10, steps: 500) { sim in
            let isSet = Tracked(false, name: "flag")
            sim.spawn("one") { while !isSet.value {} }
        }
        let failure = try #require(report.failure)
        #expect(failure.kind == .endless)
        #expect(failure.happened.contains("after 1000 steps"), "\(failure)")
    }
}
