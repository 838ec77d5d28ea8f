import ExecutionContexts
import TestSupport
import Testing

/// In the snippets' language mode, too, a trailing closure is a body that runs, and never a value.
@Suite(.patient)
struct TrailingClosureTests {
    @MainActor private static var calls = 0

    @Test func `Async with a trailing closure runs it, whether it awaits or not`() async throws {
        let plain = Async { 1 }
        #expect(try await plain.get() == 1)
        let sendable = Async { @Sendable in 2 }
        #expect(try await sendable.get() == 2)
        let before = await Self.calls
        let onMain = Async { @MainActor in Self.calls += 1 }
        try await onMain.get()
        #expect(await Self.calls == before + 1)
        let isInside = Transaction(on: SerialQueueContext(name: "accounts")).read { true }
        #expect(isInside)
    }
}
