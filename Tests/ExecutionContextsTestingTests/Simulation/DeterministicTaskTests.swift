import ExecutionContexts
import ExecutionContextsTesting
import TestSupport
import Testing

/// One order, for ordinary tests.
@Suite(.patient)
struct DeterministicTaskTests {
    private struct Wrong: Error {}

    @Test func `A body returns its value, sleeps take no time, and expectations are of its test`()
        async throws
    {
        // The test's time limit would end a sleep that took time.
        let sleep = Patience.event * 100
        let text = try await withDeterministicTasks(horizon: sleep * 2) {
            let search = Task {
                try await Task.sleep(for: sleep)
                return "found"
            }
            #expect(try await search.value == "found")
            return try await search.value
        }
        #expect(text == "found")
    }

    @Test func `A body throws its own error`() async {
        await #expect(throws: Wrong.self) { try await withDeterministicTasks { throw Wrong() } }
    }

    @Test func `The order is the same each time`() async throws {
        func order() async throws -> [Int] {
            try await withDeterministicTasks {
                let log = Log()
                await withTaskGroup { group in
                    for number in 0..<8 {
                        group.addTask {
                            for _ in 0..<number % 3 { await Task.yield() }
                            await log.add(number)
                        }
                    }
                }
                return await log.all
            }
        }
        let first = try await order()
        for _ in 0..<20 { #expect(try await order() == first) }
    }

    @Test func `A body that nothing resumes is an error`() async {
        let (stream, source) = AsyncStream.makeStream(of: Int.self)
        await #expect(throws: SimulationFailure.self) {
            try await withDeterministicTasks { for await _ in stream {} }
        }
        source.finish()
    }

    private actor Log {
        var all: [Int] = []
        func add(_ number: Int) { all.append(number) }
    }
}
