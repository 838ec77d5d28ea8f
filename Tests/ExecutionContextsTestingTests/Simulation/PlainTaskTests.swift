import ExecutionContexts
import ExecutionContextsTesting
import Foundation
import TestSupport
import Testing

/// Programs that have never heard of contexts: the simulation runs their tasks and actors.
@Suite(.patient)
struct PlainTaskTests {
    private struct Wrong: Error { var what = "" }

    private actor Account {
        private(set) var balance = 100

        func withdraw(_ amount: Int) async {
            guard balance >= amount else { return }
            await Task.yield()
            balance -= amount
        }
    }

    @Test func `Law 33: an ordinary actor that is re-entered is found, and replayed`() async {
        let program: @Sendable (SimulatedWorld) async throws -> Void = { _ in
            let account = Account()
            let one = Task(name: "alice") { await account.withdraw(80) }
            let two = Task(name: "bob") { await account.withdraw(80) }
            _ = await (one.value, two.value)
            if await account.balance < 0 { throw Wrong() }
        }
        let report = await search("plain account", program)
        #expect(report.failure?.kind == .threw, "\(report)")
        // The optimizer may dissolve the function by which the actor is re-entered.
        #if DEBUG
        #expect(
            report.failure?.trace.contains {
                $0.contains("'alice' awaited") && $0.contains("'bob' ran")
            } == true,
            "\(report)")
        #endif
        let again = await search("plain account", replay: report.failure?.token, program)
        #expect(again.failure?.kind == .threw, "\(again)")
    }

    @Test func `A function that calls an actor twice from elsewhere does not re-enter it`() async {
        let report = await search("from elsewhere") { _ in
            let counter = Counter()
            @Sendable func count() async {
                let old = await counter.get()
                await Task.yield()
                await counter.set(old + 1)
            }
            async let one: Void = count()
            async let two: Void = count()
            _ = await (one, two)
            if await counter.get() != 2 { throw Wrong() }
        }
        #expect(report.failure?.kind == .threw, "\(report)")
        #expect(report.failure?.trace.contains { $0.contains("re-entered") } == false, "\(report)")
    }

    private actor Counter {
        var value = 0
        func add() { value += 1 }
        func get() -> Int { value }
        func set(_ new: Int) { value = new }
    }

    @Test func `Law 33: an update that is lost across two calls of an actor is found`() async {
        let report = await search("lost update") { _ in
            let counter = Counter()
            await withTaskGroup { group in
                for _ in 0..<3 {
                    group.addTask {
                        let old = await counter.get()
                        await counter.set(old + 1)
                    }
                }
            }
            if await counter.value != 3 { throw Wrong() }
        }
        #expect(report.failure?.kind == .threw, "\(report)")
    }

    @Test func `Law 33: what an actor does alone is not lost`() async {
        let report = await search("kept update", schedules: rounds(debug: 600, release: 3_000)) {
            _ in
            let counter = Counter()
            await withTaskGroup { group in
                for _ in 0..<3 { group.addTask { await counter.add() } }
            }
            if await counter.value != 3 { throw Wrong() }
        }
        #expect(report.failure == nil, "\(report)")
    }

    @Test(.withoutThreadSanitizer("it has its own functions for new tasks"))
    func `Law 33: Task, detached tasks, sleeps, streams and the main actor run in it`() async {
        let report = await search("all kinds", schedules: 300) { _ in
            let start = ContinuousClock.now
            try await Task.sleep(for: .seconds(3600 / 2))
            let waited = ContinuousClock.now - start
            if waited != .seconds(1800) { throw Wrong(what: "slept \(waited)") }
            let one = await Task { 1 }.value
            let two = await Task.detached {
                await Task.yield(); return 2
            }.value
            let three = await MainActor.run { 3 }
            let (stream, source) = AsyncStream.makeStream(of: Int.self)
            Task {
                for number in 1...3 { source.yield(number) }; source.finish()
            }
            var sum = 0
            for await number in stream { sum += number }
            let four = await withCheckedContinuation { next in
                Task { next.resume(returning: 4) }
            }
            if one + two + three + four + sum != 16 { throw Wrong() }
        }
        #expect(report.failure == nil, "\(report)")
    }

    @MainActor final class Model {
        var loads = 0
        var items: [Int] = []
        func load() async {
            guard items.isEmpty else { return }
            loads += 1
            items = await fetch()
        }
        nonisolated func fetch() async -> [Int] { await Task.yield(); return [1] }
    }

    @Test func `Law 33: a view model of the main actor that loads twice is found`() async {
        let report = await search("loads twice") { _ in
            let model = Model()
            async let one: Void = model.load()
            async let two: Void = model.load()
            _ = await (one, two)
            let loads = await model.loads
            if loads != 1 { throw Wrong() }
        }
        #expect(report.failure?.kind == .threw, "\(report)")
    }

    @Test func `Law 33: a continuation that nobody resumes is found`() async {
        let kept = Locked<CheckedContinuation<Void, Never>?>(nil)
        let report = await search("never resumed") { _ in
            await withCheckedContinuation { (next: CheckedContinuation<Void, Never>) in
                kept.withLock { $0 = next }
            }
        }
        #expect(report.failure != nil, "\(report)")
    }

    @Test func `Law 33: a cancelled sleep ends at once`() async {
        let report = await search("cancelled", schedules: 300) { sim in
            let task = Task { try await Task.sleep(for: .seconds(60)) }
            await Task.yield()
            task.cancel()
            do { try await task.value; throw Wrong() } catch is CancellationError {}
            if sim.time.now.nanoseconds != 0 { throw Wrong(what: "\(sim.time.now)") }
        }
        #expect(report.failure == nil, "\(report)")
    }

    @TaskLocal private static var flag = 0

    @Test func `Law 33: a program has the task-local values of its test`() async {
        let report = await Self.$flag.withValue(7) {
            await search("task-locals", schedules: 100, ignoring: [.vacuous]) { _ in
                if Self.flag != 7 { throw Wrong() }
                if await Task(operation: { Self.flag }).value != 7 { throw Wrong() }
                if await Task.detached(operation: { Self.flag }).value != 0 { throw Wrong() }
            }
        }
        #expect(report.failure == nil, "\(report)")
    }
}
