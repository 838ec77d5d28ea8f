import Dispatch
import ExecutionContexts
import Foundation
import TestSupport
import Testing

/// Law 34: what a forked child that does not call exec may do.
@Suite(
    .patient,
    .withoutThreadSanitizer("a thread of the parent may hold the sanitizer's own locks in a child"))
struct ForkTests {
    /// Starts the library and its threads.
    private static func begin() {
        let done = DispatchSemaphore(value: 0)
        GlobalContext().execute { done.signal() }
        PoolContext().execute { done.signal() }
        done.wait()
        done.wait()
    }

    @Test func `Law 34: in a child, calls that need no other thread work`() async {
        await #expect(processExitsWith: .success) {
            Self.begin()
            let section = CriticalSection()
            let coordinator = ReadWriteCoordinator(writesOn: .immediate)
            coordinator.bringBias()
            inForkedChild {
                var count = 0
                section.execute { section.execute { count += 1 } }
                coordinator.blockingWrite { coordinator.read { count += 1 } }
                coordinator.read { count += 1 }
                let written = Box(0)
                coordinator.enqueueWrite { written.value = 1 }
                ImmediateContext().serial().execute { written.value += 1 }
                guard count == 3, coordinator.read({ written.value }) == 2 else { _exit(2) }
            }
        }
    }

    @Test func `Law 34: in a child, a job for another thread traps with a message`() async throws {
        var result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent])
        {
            Self.begin()
            inForkedChild { GlobalContext().execute {} }
        }
        try expectTrap(result, "law 34", "exec")
        result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            Self.begin()
            let queue = SerialQueueContext(name: "books")
            inForkedChild { queue.execute {} }
        }
        try expectTrap(result, "'books'", "law 34")
        result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            Self.begin()
            inForkedChild { PoolContext().execute {} }
        }
        try expectTrap(result, "law 34")
        result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            Self.begin()
            inForkedChild { _ = ImmediateContext().schedule(after: .seconds(1)) {} }
        }
        try expectTrap(result, "law 34")
    }

    @Test
    func
        `Law 34: in a child, entering a section that a parent's thread holds traps with a message`()
        async throws
    {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent])
        {
            Self.begin()
            let section = CriticalSection()
            let isInside = DispatchSemaphore(value: 0)
            Thread.detachNewThread {
                section.execute {
                    isInside.signal()
                    DispatchSemaphore(value: 0).wait()
                }
            }
            isInside.wait()
            inForkedChild(isWarm: false) { section.execute {} }
        }
        try expectTrap(result, "law 34", "forked child")
    }
}
