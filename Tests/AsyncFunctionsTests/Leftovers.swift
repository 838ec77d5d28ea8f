import AsyncFunctions
import ExecutionContextsTesting
import Testing

/// Runs `scenario` with a manual context; expects it to leave no job pending and no object alive.
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
    sourceLocation: SourceLocation = #_sourceLocation,
    _ scenario: (ManualContext) async throws -> Void
) async rethrows {
    weak var left: ManualContext?
    do {
        let context = ManualContext()
        left = context
        try await scenario(context)
        expectIdle(context, sourceLocation)
    }
    // A job that has reported its run may not have released its captures yet. The barrier runs
    // after it has.
    await untilFreed { end in asyncBarrier { _ = end } }
    #expect(left == nil, "something keeps the context", sourceLocation: sourceLocation)
}

private func expectIdle(_ context: ManualContext, _ sourceLocation: SourceLocation) {
    #expect(context.readyCount == 0, sourceLocation: sourceLocation)
    #expect(context.delayedCount == 0, sourceLocation: sourceLocation)
}

/// Runs `scenario` and returns when its argument is freed, so when no object keeps its closures.
nonisolated(nonsending) func untilFreed(_ scenario: (Farewell) -> Void) async {
    await withCheckedContinuation { done in scenario(Farewell { done.resume() }) }
}

/// Calls its action when it is freed.
final class Farewell: Sendable {
    private let action: @Sendable () -> Void
    init(_ action: @escaping @Sendable () -> Void) { self.action = action }
    deinit { action() }
}
