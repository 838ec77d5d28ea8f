import AsyncFunctions
import ExecutionContextsTesting
import Testing

/// Runs `scenario` with a manual context and expects that it leaves nothing pending and nothing alive.
@MainActor func leavingNothing(
    sourceLocation: SourceLocation = #_sourceLocation, _ scenario: (ManualContext) throws -> Void
) rethrows {
    weak var left: ManualContext?
    do {
        let context = ManualContext()
        left = context
        try scenario(context)
        expectIdle(context, sourceLocation)
    }
    #expect(left == nil, "something keeps the context", sourceLocation: sourceLocation)
}

/// The same for a scenario that awaits.
@MainActor func leavingNothing(
    sourceLocation: SourceLocation = #_sourceLocation, _ scenario: (ManualContext) async throws -> Void
) async rethrows {
    weak var left: ManualContext?
    do {
        let context = ManualContext()
        left = context
        try await scenario(context)
        expectIdle(context, sourceLocation)
    }
    // Work that has told the test that it ran may still have to let go of what it held: the barrier is behind that.
    await untilFreed { end in asyncBarrier { _ = end } }
    #expect(left == nil, "something keeps the context", sourceLocation: sourceLocation)
}

private func expectIdle(_ context: ManualContext, _ sourceLocation: SourceLocation) {
    #expect(context.readyCount == 0, sourceLocation: sourceLocation)
    #expect(context.delayedCount == 0, sourceLocation: sourceLocation)
}

/// Runs `scenario` and returns when the object that it was given has died: when nothing keeps its closures.
nonisolated(nonsending) func untilFreed(_ scenario: (Farewell) -> Void) async {
    await withCheckedContinuation { done in scenario(Farewell { done.resume() }) }
}

/// Does something at its end.
final class Farewell: Sendable {
    private let action: @Sendable () -> Void
    init(_ action: @escaping @Sendable () -> Void) { self.action = action }
    deinit { action() }
}
