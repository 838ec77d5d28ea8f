#if os(Linux)
import Dispatch
import ExecutionContexts
import Foundation
import TestSupport
import Testing

/// The process-wide memory barrier, where the system refuses it after the library has started.
@Suite(.patient)
struct BarrierFallbackTests {
    /// Makes threads contend for a section and a coordinator, so that waiters and writers need the
    /// barrier.
    private static func contend() {
        let section = CriticalSection()
        let coordinator = ReadWriteCoordinator()
        let room = ReadWriteRoom()
        // Unsafe in name only: the section guards it.
        nonisolated(unsafe) var entries = 0
        onThreads(4) {
            for _ in 0..<100 {
                section.execute {
                    unsafe entries += 1
                    // Other threads arrive meanwhile, and park.
                    let end = SystemTime.shared.now.advanced(by: .microseconds(50))
                    while SystemTime.shared.now < end {}
                }
                coordinator.bringBias()
                coordinator.blockingWrite { room.write() }
                coordinator.read { _ = room.read() }
            }
        }
        guard unsafe entries == 400, room.total == 400, room.fault == nil else {
            fatalError("Not excluded.")
        }
    }

    @Test
    func `Laws 14, 17: without membarrier a caller visits every processor and keeps its affinity`()
        async
    {
        await #expect(processExitsWith: .success) {
            Self.contend()
            let before = Self.affinity
            Sandbox.refuse([Sandbox.membarrier])
            Self.contend()
            guard Self.affinity == before else { fatalError("The thread's affinity has changed.") }
        }
    }

    @Test func `Laws 14, 17: without membarrier and affinity a process traps with a message`()
        async throws
    {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent])
        {
            Self.contend()
            Sandbox.refuse([Sandbox.membarrier, Sandbox.setAffinity])
            Self.contend()
        }
        try expectTrap(result, "membarrier", "sandbox", "laws 14, 17")
    }

    /// The processors that the calling thread may run on, as the system reports them.
    private static var affinity: String {
        let status =
            (try? String(contentsOfFile: "/proc/thread-self/status", encoding: .utf8)) ?? ""
        return status.split(separator: "\n").first { $0.hasPrefix("Cpus_allowed:") }.map(
            String.init) ?? ""
    }
}
#endif
