import ExecutionContexts
import ExecutionContextsTesting
import Foundation
import TestSupport
import Testing

/// What Swift has for concurrency, each kind in a simulation.
@Suite(.patient)
struct PlainTaskKindTests {
    private struct Wrong: Error { var what = "" }

    @globalActor private actor Shop { static let shared = Shop() }

    @Shop private final class Till {
        var sum = 0
        func add(_ amount: Int) { sum += amount }
    }

    @Test func `Law 33: a global actor keeps its jobs apart`() async {
        await expectNoFailure("global actor") { _ in
            let till = Till()
            await withTaskGroup { group in
                for amount in 1...4 { group.addTask { await till.add(amount) } }
            }
            if await till.sum != 10 { throw Wrong() }
        }
    }

    private actor Owner {
        let freed: @Sendable (Bool) -> Void
        var state = 1
        init(_ freed: @escaping @Sendable (Bool) -> Void) { self.freed = freed }
        func touch() { state += 1 }
        isolated deinit { freed(state == 2) }
    }

    @Test func `Law 33: an isolated deinit runs in the simulation`() async {
        await expectNoFailure("isolated deinit") { _ in
            let (stream, source) = AsyncStream.makeStream(of: Bool.self)
            var owner: Owner? = Owner {
                source.yield($0); source.finish()
            }
            await owner?.touch()
            owner = nil
            var seen: [Bool] = []
            for await wasTouched in stream { seen.append(wasTouched) }
            if seen != [true] { throw Wrong(what: "\(seen)") }
        }
    }

    @Test func `Law 33: tasks that prefer a context of the simulation run on it`() async {
        await expectNoFailure("preference") { sim in
            let context = sim.serial(named: "db")
            let isThere = await Task(executorPreference: context.taskExecutor) {
                context.isCurrent
            }.value
            if isThere != true { throw Wrong() }
            if try await context.runTask({ context.isCurrent }) != true { throw Wrong() }
        }
    }

    private actor Backed {
        nonisolated let executor: any SerialExecutor
        nonisolated var unownedExecutor: UnownedSerialExecutor {
            unsafe executor.asUnownedSerialExecutor()
        }
        var count = 0
        init(_ context: some ActorBackingContext) { executor = context }
        func add() { count += 1 }
    }

    @Test func `Law 33: an actor over a context of the simulation keeps its jobs apart`() async {
        await expectNoFailure("backed") { sim in
            let actor = Backed(sim.serial(named: "db"))
            await withTaskGroup { group in
                for _ in 0..<4 { group.addTask { await actor.add() } }
            }
            if await actor.count != 4 { throw Wrong() }
        }
    }

    @Test func `Law 33: cancelling reaches handlers, groups, streams and sleeps`() async {
        await expectNoFailure("cancelling") { _ in
            let log = Log()
            let task = Task {
                try await withThrowingTaskGroup { group in
                    group.addTask { try await Task.sleep(for: .seconds(100)) }
                    group.addTask {
                        let (stream, source) = AsyncStream.makeStream(of: Int.self)
                        for await _ in stream {}
                        source.finish()
                        if !Task.isCancelled { throw Wrong() }
                    }
                    group.addTask {
                        await withTaskCancellationHandler {
                            while !Task.isCancelled { await Task.yield() }
                        } onCancel: {
                            Task { await log.add(1) }
                        }
                    }
                    try await group.waitForAll()
                }
            }
            await Task.yield()
            task.cancel()
            if case .failure(let error as Wrong) = await task.result { throw error }
        }
    }

    @Test func `Law 33: a deep tree and a crowd of tasks run`() async throws {
        @Sendable func count(_ depth: Int) async -> Int {
            guard depth > 0 else { return 1 }
            async let left = count(depth - 1)
            async let right = count(depth - 1)
            return await left + right
        }
        let crowd = rounds(debug: 5_000, release: 20_000)
        let (leaves, sum) = try await withDeterministicTasks {
            let leaves = await count(10)
            let sum = await withTaskGroup { group in
                for number in 0..<crowd {
                    group.addTask {
                        await Task.yield(); return number
                    }
                }
                return await group.reduce(0, +)
            }
            return (leaves, sum)
        }
        #expect(leaves == 1_024)
        #expect(sum == crowd * (crowd - 1) / 2)
    }

    @Test func `Law 33: two searches and ordinary tasks run side by side`() async {
        async let one: Void = expectNoFailure("one") { _ in try await Self.program() }
        async let two: Void = expectNoFailure("two") { _ in try await Self.program() }
        for _ in 0..<50 { #expect(await Task { 1 }.value == 1) }
        let start = ContinuousClock.now
        try? await Task.sleep(for: .milliseconds(1))
        #expect(ContinuousClock.now - start >= .milliseconds(1))
        _ = await (one, two)
    }

    private static func program() async throws {
        let log = Log()
        try await Task.sleep(for: .seconds(1_000))
        await withTaskGroup { group in
            for number in 0..<3 { group.addTask { await log.add(number) } }
        }
        if await log.all.count != 3 { throw Wrong() }
    }

    private actor Shared {
        static let one = Shared()
        static let other = Shared()
        private var inside = 0
        private var peak = 0

        func enter() async -> Int {
            inside += 1
            peak = max(peak, inside)
            // A point of this library, at which the job is paused while it has the actor.
            let counter = CriticalSection()
            for _ in 0..<4 { counter.execute {} }
            inside -= 1
            return peak
        }
    }

    @Test func `Law 33: searches side by side exclude each other from actors that they share`()
        async
    {
        await withTaskGroup { group in
            for number in 0..<3 {
                group.addTask {
                    let report = await search("shared", schedules: 300, seed: UInt64(number)) { _ in
                        async let one = Shared.one.enter()
                        async let other = Shared.other.enter()
                        async let main = MainActor.run { Task {} }
                        // Its first job is queued for the actor itself.
                        await Task { @Shop in await Task.yield() }.value
                        if await one > 1 { throw Wrong() }
                        if await other > 1 { throw Wrong() }
                        _ = await main
                    }
                    #expect(report.failure == nil, "\(report)")
                }
            }
        }
    }

    @MainActor
    @Test func `Law 33: a search from the main actor simulates the main actor`() async {
        await expectNoFailure("from main") { @MainActor _ in
            MainActor.assertIsolated()
            await Task.yield()
            MainActor.assertIsolated()
        }
    }

    @Test func `Law 33: a search inside a search is misuse`() async {
        let report = await search("outer", schedules: 1, ignoring: [.vacuous]) { _ in
            let inner = await search("inner") { _ in }
            if inner.failure?.kind != .misuse { throw Wrong() }
        }
        #expect(report.failure == nil, "\(report)")
    }

    @Test func `Law 33: a task that nobody awaits and nothing resumes is named`() async {
        let report = await search("forgotten") { _ in
            let (stream, source) = AsyncStream.makeStream(of: Int.self)
            Task(name: "listener") {
                for await _ in stream {}
                source.finish()
            }
        }
        #expect(report.failure?.kind == .lostWakeUp, "\(report)")
        #expect(report.failure?.happened.contains("'listener'") == true)
    }

    private actor Log {
        var all: [Int] = []
        func add(_ number: Int) { all.append(number) }
    }
}

extension PlainTaskKindTests {
    @Test func `Law 33: a thread that runs no task has none`() async {
        await expectNoFailure("no task", schedules: 50) { sim in
            let actor = Busy()
            try await actor.work()
            let count = Locked(0)
            for number in 0..<3 {
                sim.spawn("thread \(number)") {
                    count.withLock { $0 += 1 }
                    unsafe withUnsafeCurrentTask { task in
                        if unsafe task != nil { fatalError("a stale task") }
                    }
                }
            }
            try await Task { try await actor.work() }.value
            sim.finally("all ran") { count.withLock { $0 } == 3 }
        }
    }

    private actor Busy {
        private let isInside = Tracked(false, name: "inside")
        func work() async throws {
            if isInside.value { throw Wrong(what: "re-entered without a suspension") }
            isInside.value = true
            _ = isInside.value
            isInside.value = false
            await Task.yield()
        }
    }

    @Test func `Law 33: a job of an actor that is paused keeps the actor`() async {
        await expectNoFailure("paused", schedules: rounds(debug: 500, release: 2_000)) { _ in
            let actor = Busy()
            try await withThrowingTaskGroup { group in
                for _ in 0..<3 {
                    group.addTask {
                        try await actor.work(); try await actor.work()
                    }
                }
                try await group.waitForAll()
            }
        }
    }
}
