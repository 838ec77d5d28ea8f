import AsyncFunctions
import Dispatch
import ExecutionContexts
import ExecutionContextsTesting
import TestSupport
import Testing

/// Closures of the main actor run on it or not at all.
@Suite(.patient)
struct SubstituteMisuseTests {
    @Test func `Law 4: driving a manual main off the main actor traps`() async throws {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent])
        {
            let screen = ManualContext(name: "screen")
            withAsyncFunctions(main: screen) { mainThread { print("This must not run.") } }
            await Task.detached { _ = screen.runReady() }.value
        }
        try expectTrap(result, "'screen'", "off the main actor", "law 4", "@MainActor")
    }

    @Test func `Law 4: driving a manual main with a delayed closure off the main actor traps`()
        async throws
    {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent])
        {
            let screen = ManualContext(name: "screen")
            withAsyncFunctions(main: screen) {
                mainThread(delay: 60) { print("This must not run.") }
            }
            await Task.detached { screen.advance(by: .seconds(60)) }.value
        }
        try expectTrap(result, "'screen'", "off the main actor", "law 4", "@MainActor")
    }

    @Test func `Law 4: a substitute for main that is another queue traps`() async throws {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent])
        {
            withAsyncFunctions(main: .serial(named: "not main")) { mainThread {} }
            // The process ends before this does.
            DispatchSemaphore(value: 0).wait()
        }
        try expectTrap(result, "'not main'", "off the main actor", "law 4", "@MainActor")
    }
}
