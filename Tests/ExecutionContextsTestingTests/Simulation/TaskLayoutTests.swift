import Testing

@testable import ExecutionContextsTesting

/// Law 33: a simulation does not begin in a runtime whose tasks it would corrupt.
@Suite struct TaskLayoutTests {
    @Test func `this runtime lays tasks out as is known`() throws {
        try #require(ProcessExecutors.areKnown)
        _ = RuntimeHooks.install
        #expect(TaskLayout.isKnown())
    }

    // Each task stands for a runtime in which one step of the look is different.
    @Test func `a step that is not as is known is found`() throws {
        try #require(ProcessExecutors.areKnown)
        _ = RuntimeHooks.install
        #expect(!TaskLayout.isKnown(by: { TaskLayout.retained(Task.detached {}) }))
        #expect(
            !TaskLayout.isKnown(by: { TaskLayout.retained(Task.detached { await Task.yield() }) }))
        #expect(
            !TaskLayout.isKnown(by: {
                TaskLayout.retained(
                    Task.detached {
                        async let child: Void = {}()
                        await child
                    })
            }))
        #expect(
            !TaskLayout.isKnown(by: {
                TaskLayout.retained(
                    Task.detached {
                        await withTaskGroup { group in group.addTask {} }
                        await Task.yield()
                    })
            }))
        // What was found before stays.
        #expect(TaskLayout.isKnown())
    }
}
