import AsyncFunctions
import Dispatch
import ExecutionContexts
import ExecutionContextsTesting
import Testing

/// Closures of the main actor run there or nowhere.
@Suite(.timeLimit(.minutes(30)))
struct SubstituteMisuseTests {
    @Test func `Law 4: a manual main that is driven elsewhere stops the program`() async throws {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let screen = ManualContext(name: "screen")
            withAsyncFunctions(main: screen) { mainThread { print("This must not run.") } }
            await Task.detached { _ = screen.runReady() }.value
        }
        try expectSentence(result, "'screen'", "off the main actor", "law 4", "@MainActor")
    }

    @Test func `Law 4: so does a delayed closure`() async throws {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let screen = ManualContext(name: "screen")
            withAsyncFunctions(main: screen) { mainThread(delay: 60) { print("This must not run.") } }
            await Task.detached { screen.advance(by: .seconds(60)) }.value
        }
        try expectSentence(result, "'screen'", "off the main actor", "law 4", "@MainActor")
    }

    @Test func `Law 4: so does a main that is a queue of its own`() async throws {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            withAsyncFunctions(main: .serial(label: "not main")) { mainThread {} }
            // The process ends before this does.
            DispatchSemaphore(value: 0).wait()
        }
        try expectSentence(result, "'not main'", "off the main actor", "law 4", "@MainActor")
    }
}
