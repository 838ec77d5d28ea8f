#if os(Linux)
import Dispatch
import ExecutionContexts
import Foundation
import Testing

/// The barrier for all threads where the system refuses it after the library has started.
@Suite(.timeLimit(.minutes(30)))
struct BarrierFallbackTests {
    /// Has threads meet in a section and in a coordinator, so that waiters and writers ask for the barrier.
    private static func meet() {
        let section = CriticalSection()
        let coordinator = ReadWriteCoordinator()
        let room = ReadWriteRoom()
        // Unsafe in name only: the section guards it.
        nonisolated(unsafe) var entries = 0
        onThreads(4) {
            for _ in 0..<100 {
                section.execute {
                    unsafe entries += 1
                    // Others come meanwhile, and go to sleep.
                    let end = SystemTime.shared.now.advanced(by: .microseconds(50))
                    while SystemTime.shared.now < end {}
                }
                coordinator.bringBias()
                coordinator.blockingWrite { room.write() }
                coordinator.read { _ = room.read() }
            }
        }
        guard unsafe entries == 400, room.total == 400, room.fault == nil else { fatalError("Not excluded.") }
    }

    @Test
    func `Laws 14, 17: without membarrier the caller visits every processor, and stays where it may run`()
        async
    {
        await #expect(processExitsWith: .success) {
            Self.meet()
            let before = Self.affinity
            Sandbox.refuse([Sandbox.membarrier])
            Self.meet()
            guard Self.affinity == before else { fatalError("The thread was left on one processor.") }
        }
    }

    @Test func `Laws 14, 17: where both are refused the program traps with a message`() async throws {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            Self.meet()
            Sandbox.refuse([Sandbox.membarrier, Sandbox.setAffinity])
            Self.meet()
        }
        try expectSentence(result, "membarrier", "sandbox", "laws 14, 17")
    }

    /// The processors that the calling thread may run on, as the system says it.
    private static var affinity: String {
        let status = (try? String(contentsOfFile: "/proc/thread-self/status", encoding: .utf8)) ?? ""
        return status.split(separator: "\n").first { $0.hasPrefix("Cpus_allowed:") }.map(String.init) ?? ""
    }
}
#endif
