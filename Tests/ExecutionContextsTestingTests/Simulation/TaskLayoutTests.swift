import Testing

@testable import ExecutionContextsTesting

/// Law 33: a simulation does not begin in a runtime whose tasks it would corrupt.
@Suite struct TaskLayoutTests {
    @Test func `this runtime lays tasks out as is known`() throws {
        try #require(ProcessExecutors.areKnown)
        _ = RuntimeHooks.install
        let isKnown = TaskLayout.isKnown()
        #expect(isKnown)
    }

    // Each task stands for a runtime in which one step of the look is different.
    @Test func `a step that is not as is known is found`() throws {
        try #require(ProcessExecutors.areKnown)
        _ = RuntimeHooks.install
        let ends = TaskLayout.isKnown(by: { TaskLayout.retained(Task.detached {}) })
        let yields = TaskLayout.isKnown(by: {
            TaskLayout.retained(Task.detached { await Task.yield() })
        })
        let awaits = TaskLayout.isKnown(by: {
            TaskLayout.retained(
                Task.detached {
                    async let child: Void = {}()
                    await child
                })
        })
        let groups = TaskLayout.isKnown(by: {
            TaskLayout.retained(
                Task.detached {
                    await withTaskGroup { group in group.addTask {} }
                    await Task.yield()
                })
        })
        #expect(!ends && !yields && !awaits && !groups)
        // What was found before stays.
        let asIs = TaskLayout.isKnown()
        #expect(asIs)
    }
}
