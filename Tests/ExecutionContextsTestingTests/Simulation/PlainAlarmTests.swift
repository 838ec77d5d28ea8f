import ExecutionContextsTesting
import Foundation
import TestSupport
import Testing

/// Correct programs that look like faulty ones, or that have input that differs from run to run.
@Suite(.patient, .systemIsSimulated)
struct PlainAlarmTests {
    actor Counter {
        private(set) var count = 0
        func add() { count += 1 }
    }

    @Test(arguments: [SimulationTime.whenIdle, .racing])
    func `Law 33: a task that polls sees what another does after a sleep`(
        time: SimulationTime
    ) async throws {
        try await simulate("polling", schedules: 3, time: time) { _ in
            let counter = Counter()
            async let sleeper: Void = {
                for _ in 0..<3 {
                    try? await Task.sleep(for: .milliseconds(10))
                    await counter.add()
                }
            }()
            while await counter.count < 3 { await Task.yield() }
            await sleeper
        }
    }

    @Test func `Law 33: a task that works and yields does not make time pass`() async throws {
        try await simulate("works", schedules: 3, ignoring: [.vacuous]) { _ in
            let counter = Counter()
            try await withThrowingTaskGroup { group in
                group.addTask {
                    try await Task.sleep(for: .seconds(60))
                    throw CancellationError()
                }
                group.addTask {
                    for _ in 0..<1_200 {
                        await counter.add()
                        await Task.yield()
                    }
                }
                try await group.next()
                group.cancelAll()
            }
        }
    }

    @Test func `Law 33: many tasks are not endless, and one after another without end is`() async {
        let many = await search("many", schedules: 1, steps: 1_000) { _ in
            let counter = Counter()
            await withTaskGroup { group in
                for _ in 0..<1_000 { group.addTask { await counter.add() } }
            }
        }
        #expect(many.failure == nil, "\(many)")
        let endless = await search("endless", schedules: 1, steps: 500) { _ in
            while true { await Task {}.value }
        }
        #expect(endless.failure?.kind == .endless, "\(endless)")
    }

    @Test func `Law 33: many tasks that yield do not make time pass`() async throws {
        try await simulate("yields", schedules: 50) { _ in
            let counter = Counter()
            async let sleeper: Void = {
                try? await Task.sleep(for: .seconds(60))
                await counter.add()
            }()
            for _ in 0..<60 {
                await Task<Void, Never>.detached(priority: .background) { await Task.yield() }
                    .value
            }
            if await counter.count == 1 { throw CancellationError() }
            await sleeper
        }
    }

    /// Each draws, and returns what it got.
    static let draws: [@Sendable () -> String] = [
        { "\(Int.random(in: 0..<1_000_000))" },
        { "\(Double.random(in: 0..<1))" },
        { "\((0..<20).map { _ in Bool.random() })" },
        { "\((0..<20).shuffled())" },
        { "\((0..<1_000_000).randomElement()!)" },
        { UUID().uuidString },
        { "\(Set((0..<20).map { "\($0)" }))" },
        { "\(Dictionary(uniqueKeysWithValues: (0..<20).map { ($0, $0) }))" },
    ]

    @Test(arguments: draws.indices)
    func `Law 33: random numbers and the order of sets are the same in each schedule`(
        index: Int
    ) async throws {
        let draw = Self.draws[index]
        let seen = Box<Set<[String]>>([])
        try await simulate("draws", schedules: 20) { _ in
            async let other: Void = Task.yield()
            let drawn = [draw(), draw()]
            seen.withValue { _ = $0.insert(drawn) }
            await other
        }
        #expect(seen.value.count == 1)
        // Tables with the same members are in the same order; numbers differ.
        if index < 6 { #expect(Set(seen.value.first!).count == 2) }
    }

    @Test func `Law 33: jitter does not hide a failure, which replays`() async throws {
        let program: @Sendable (SimulatedWorld) async throws -> Void = { _ in
            let counter = Counter()
            @Sendable func add() async {
                let old = await counter.count
                for _ in 0..<Int.random(in: 1..<4) { await Task.yield() }
                if await counter.count == old { await counter.add() }
            }
            async let one: Void = add()
            async let other: Void = add()
            _ = await (one, other)
            if await counter.count != 2 { throw CancellationError() }
        }
        let failure = await search("jitter", program).failure
        #expect(failure?.kind == .threw)
        let again = await search("jitter", replay: try #require(failure?.token), program)
        #expect(again.failure?.kind == .threw, "\(again)")
    }

    @Test(arguments: [2, 5, 40])
    func `Law 33: state that outlives schedules is told, whenever it changes them`(
        runs: Int
    ) async {
        let count = Box(0)
        let report = await search("outlives", schedules: 100) { _ in
            let counter = Counter()
            let isLate = count.withValue { count in
                count += 1
                return count > runs
            }
            async let other: Void = counter.add()
            if isLate { await counter.add() }
            await other
        }
        #expect(report.failure?.kind == .nondeterminism, "\(report)")
    }
}
