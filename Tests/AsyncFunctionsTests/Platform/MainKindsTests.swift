// On the other systems a program cannot run another program.
#if !os(iOS) && !os(tvOS) && !os(watchOS) && !os(visionOS)
import AsyncFunctions
import Foundation
import TestSupport
import Testing

/// Law 4: which thread is main in each kind of program.
///
/// Each kind is a process of its own. The documentation has these expectations as a table.
@Suite(.patient)
struct MainKindsTests {
    @Test func `Law 4: under a run loop main is the main thread`() async throws {
        let run = try await ProgramRun("MainKinds", "run-loop")
        #expect(
            run.lines == [
                "the start: the main thread",
                "from the main thread: the main thread",
                "from another thread: the main thread",
                "delayed: the main thread",
            ])
        #expect(run.exitCode == 0)
    }

    @Test func `Law 4: under dispatchMain other threads are main`() async throws {
        let run = try await ProgramRun("MainKinds", "dispatch-main")
        #expect(
            run.lines == [
                "the start: the main thread",
                "from the main thread: another thread",
                "from another thread: another thread",
                "delayed: another thread",
            ])
        #expect(run.exitCode == 0)
    }

    @Test func `Law 4: what the first thread frees at its end, under dispatchMain, is not on main`()
        async throws
    {
        let run = try await ProgramRun("MainKinds", "ended-main")
        #expect(["elsewhere", "not freed"].contains(run.lines.last))
        #expect(run.exitCode == 0)
    }

    @Test func `Law 4: in an async main program, main changes its thread at the first suspension`()
        async throws
    {
        let run = try await ProgramRun("AsyncMain")
        #expect(
            run.lines == [
                "the start: the main thread",
                "nothing ran before the first suspension",
                "from the main thread: \(servesAsyncMain)",
                "from another thread: \(servesAsyncMain)",
                "main after its first suspension: \(servesAsyncMain)",
                "delayed: \(servesAsyncMain)",
            ])
        #expect(run.exitCode == 0)
    }

    @Test func `Law 4: Swift Testing has the same main thread as an async main program`() async {
        let isMainThread = await withCheckedContinuation { done in
            mainThread { done.resume(returning: Thread.isMainThread) }
        }
        #expect((isMainThread ? "the main thread" : "another thread") == servesAsyncMain)
    }

    @Test func `While the main thread is blocked no job runs on main`() async throws {
        let run = try await ProgramRun("MainKinds", "waiting")
        #expect(run.lines == ["the start: the main thread", "nothing ran"])
        #expect(run.exitCode == 0)
    }
}
#endif
