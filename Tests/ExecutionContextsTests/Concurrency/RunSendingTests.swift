import ExecutionContexts
import ExecutionContextsTesting
import Testing

/// `run` returns what its body made, also where that is not `Sendable`.
struct RunSendingTests {
    /// Not `Sendable`: it has state without a lock.
    final class Notebook {
        var lines: [String] = []
    }

    @Test(.alsoSimulated) func `A body's value that is not Sendable reaches the caller`()
        async throws
    {
        let context = GlobalContext().serial(named: "made here")
        let made = try await context.run {
            let notebook = Notebook()
            notebook.lines.append("\(context.isCurrent == true)")
            return notebook
        }
        made.lines.append("used")
        #expect(made.lines == ["true", "used"])
        let task = try await context.runTask {
            await Task.yield()
            let notebook = Notebook()
            notebook.lines.append("\(context.isCurrent == true)")
            return notebook
        }
        task.lines.append("used")
        #expect(task.lines == ["true", "used"])
    }

    @Test func `A closure of the main actor may return a value that is not Sendable`() async throws
    {
        let made = try await MainContext().run {
            MainActor.assertIsolated()
            return Notebook()
        }
        made.lines.append("used")
        #expect(made.lines == ["used"])
    }

    @Test func `A function value may be the body, as it was, and errors come through`() async throws
    {
        let body: @Sendable () throws -> Int = { 3 }
        #expect(try await ImmediateContext().run(body) == 3)
        let failing: @Sendable () throws -> Notebook = { throw CancellationError() }
        await #expect(throws: CancellationError.self) {
            _ = try await ImmediateContext().run { () -> Notebook in
                _ = try failing()
                return Notebook()
            }
        }
    }

    @Test func `Law 1: a refusal comes through where a value is not Sendable`() async {
        await #expect(throws: Refusal.self) {
            _ = try await ClosureContext { _ in }.run { Notebook() }
        }
    }

    @Test func `Law 13: a call that is cancelled before its start never makes its value`() async {
        let context = ManualContext()
        let made = Box(0)
        let task = startedTask {
            let notebook = try await context.run { () -> Notebook in
                made.withValue { $0 += 1 }
                return Notebook()
            }
            _ = notebook.lines
        }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        context.runReady()
        #expect(made.value == 0)
    }
}
