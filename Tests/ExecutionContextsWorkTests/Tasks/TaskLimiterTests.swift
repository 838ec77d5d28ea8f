import ExecutionContexts
import ExecutionContextsTesting
import ExecutionContextsWork
import TestSupport
import Testing

/// Async bodies that keep their permits across each await.
@Suite(.patient)
struct TaskLimiterTests {
    @Test(.alsoSimulated) func `Law 35: a body keeps its permit while it awaits`() async throws {
        let limiter = GlobalContext().limitedTasks(to: 1, named: "downloads")
        let door = Channel<Void>()
        let log = Box<[String]>([])
        let first = limiter.submitTask {
            log.withValue { $0.append("begin 1") }
            _ = try await door.receive()
            log.withValue { $0.append("end 1") }
        }
        let second = limiter.submitTask { log.withValue { $0.append("begin 2") } }
        try await door.send(())
        try await first.get()
        try await second.get()
        #expect(log.value == ["begin 1", "end 1", "begin 2"])
    }

    @Test func `Law 35: bodies begin in the order in which they were submitted`() async throws {
        let limiter = GlobalContext().limitedTasks(to: 1)
        let log = Box<[Int]>([])
        let ends = (0..<200).map { number in
            limiter.submitTask { log.withValue { $0.append(number) } }
        }
        for end in ends { try await end.get() }
        #expect(log.value == Array(0..<200))
    }

    @Test(.alsoSimulated) func `Law 35: a body that was cancelled before it began never runs`()
        async throws
    {
        let limiter = GlobalContext().limitedTasks(to: 1)
        let door = Channel<Void>()
        let ran = Box(false)
        let first = limiter.submitTask { _ = try await door.receive() }
        let second = limiter.submitTask { ran.value = true }
        #expect(second.cancel())
        try await door.send(())
        try await first.get()
        try await limiter.runTask {}
        #expect(!ran.value)
        #expect(limiter.waitingCount == 0)
    }

    @Test func `Law 1: a context that refuses returns the permit with its refusal`() async throws {
        let pool = WorkerPool(name: "closed", width: 1)
        try await pool.shutDown().get()
        let limiter = pool.limitedTasks(to: 1)
        for _ in 0..<3 {
            await #expect(throws: Refusal.self) { try await limiter.submitTask {}.get() }
            await #expect(throws: Refusal.self) { try await limiter.runTask {} }
        }
    }

    @Test func `Law 35: a limit of zero traps`() async throws {
        let result = await #expect(
            processExitsWith: .failure, observing: [\.standardErrorContent]
        ) {
            _ = GlobalContext().limitedTasks(to: 0)
        }
        try expectTrap(result, "at most 0 tasks", "law 35")
    }
}
