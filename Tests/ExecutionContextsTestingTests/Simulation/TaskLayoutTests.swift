import Testing

@testable import ExecutionContextsTesting

/// Law 33: a simulation does not begin in a runtime whose tasks it would corrupt.
@Suite struct TaskLayoutTests {
    @Test func `this runtime lays tasks out as is known`() throws {
        try #require(ProcessExecutors.areKnown)
        _ = RuntimeHooks.install
        let isKnown = unsafe TaskLayout.isKnown()
        #expect(isKnown)
    }

    // Each task stands for a runtime in which one step of the look is different.
    @Test func `a step that is not as is known is found`() throws {
        try #require(ProcessExecutors.areKnown)
        _ = RuntimeHooks.install
        let ends = unsafe TaskLayout.isKnown(by: { unsafe TaskLayout.retained(Task.detached {}) })
        let yields = unsafe TaskLayout.isKnown(by: {
            unsafe TaskLayout.retained(Task.detached { await Task.yield() })
        })
        let awaits = unsafe TaskLayout.isKnown(by: {
            unsafe TaskLayout.retained(
                Task.detached {
                    async let child: Void = {}()
                    await child
                })
        })
        let groups = unsafe TaskLayout.isKnown(by: {
            unsafe TaskLayout.retained(
                Task.detached {
                    await withTaskGroup { group in group.addTask {} }
                    await Task.yield()
                })
        })
        #expect(!ends && !yields && !awaits && !groups)
        // What was found before stays.
        let asIs = unsafe TaskLayout.isKnown()
        #expect(asIs)
    }
}
