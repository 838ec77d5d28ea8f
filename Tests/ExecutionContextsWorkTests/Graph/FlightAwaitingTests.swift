import ExecutionContexts
import ExecutionContextsTesting
import ExecutionContextsWork
import TestSupport
import Testing

/// Tasks that await flights, futures and jobs of contexts, as they are and under many schedules.
@Suite(.patient, .alsoSimulated(rounds(debug: 80, release: 300)))
struct FlightAwaitingTests {
    private actor Backend {
        let mayAnswer = Promise<Void>()
        private(set) var loads = 0

        func load() async throws -> Int {
            loads += 1
            try await mayAnswer.async.get()
            return 7
        }
    }

    private func flights(
        _ backend: Backend, on context: some SerialContext
    ) -> SingleFlight<String, Int> {
        SingleFlight(name: "load", on: context) { _, flight in
            let task = Task {
                do { flight.succeed(try await backend.load()) } catch { flight.fail(error) }
            }
            flight.onCancel { task.cancel() }
        }
    }

    @Test func `Law 31: tasks that await equal work in flight share it`() async throws {
        let backend = Backend()
        let context = GlobalContext().serial(named: "works")
        let work = flights(backend, on: context)["wren"]
        let futures = (0..<3).map { _ in work.value() }
        // Behind the three subscriptions.
        try await context.runTask {}
        let values = try await withThrowingTaskGroup(of: Int.self) { group in
            for future in futures { group.addTask { try await future.get() } }
            group.addTask {
                backend.mayAnswer.succeed(())
                return 0
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(values.sorted() == [0, 7, 7, 7])
        #expect(await backend.loads == 1)
    }

    @Test func `Laws 26, 32: a task that leaves ends only its own wait`() async throws {
        let backend = Backend()
        let context = GlobalContext().serial(named: "works")
        let work = flights(backend, on: context)["wren"]
        let (staying, leaving) = (work.value(), work.value())
        try await context.runTask {}
        let left = Task { try await leaving.getOrCancel() }
        let stayed = Task { try await staying.getOrCancel() }
        left.cancel()
        backend.mayAnswer.succeed(())
        #expect(try await stayed.value == 7)
        // It may have got the value before it was cancelled.
        switch await left.result {
        case .success(let value): #expect(value == 7)
        case .failure(let error): #expect(error is CancellationError)
        }
        #expect(await backend.loads == 1)
    }

    @Test func `Laws 1, 13: a task on a serial context awaits its jobs, one at a time`()
        async throws
    {
        let context = GlobalContext().serial(named: "ledger")
        let inside = Box(0)
        let peak = Box(0)
        let sum = try await withThrowingTaskGroup(of: Int.self) { group in
            for number in 1...4 {
                group.addTask {
                    try await context.runTask {
                        #expect(context.isCurrent == true)
                        inside.withValue { $0 += 1 }
                        peak.value = max(peak.value, inside.value)
                        inside.withValue { $0 -= 1 }
                        await Task.yield()
                        #expect(context.isCurrent == true)
                        return number
                    }
                }
            }
            return try await group.reduce(0, +)
        }
        #expect(sum == 10)
        #expect(peak.value == 1)
    }

    @Test func `Law 26: a cancelled task ends the job that it submitted and awaits`() async {
        let context = GlobalContext().serial(named: "ledger")
        let task = Task {
            try await context.submitTask {
                // Ends when the task is cancelled.
                for await _ in AsyncStream(Int.self, { _ in }) {}
            }.getOrCancel()
        }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    @Test func `Law 24: of many tasks that complete a promise one wins, and all waiters get that`()
        async throws
    {
        let promise = Promise<Int>()
        let waiters = (0..<3).map { _ in Task { try await promise.async.get() } }
        let completers = (0..<3).map { number in Task { promise.succeed(number) } }
        var winners: [Int] = []
        for (number, completer) in completers.enumerated() where await completer.value {
            winners.append(number)
        }
        #expect(winners.count == 1)
        for waiter in waiters { #expect(try await waiter.value == winners.first) }
    }
}
