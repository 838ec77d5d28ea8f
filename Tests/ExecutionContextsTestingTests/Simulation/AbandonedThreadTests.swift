import ExecutionContexts
import Foundation
import TestSupport
import Testing

@testable import ExecutionContextsTesting

/// What deadlocks leave behind: the stacks of threads that never go on.
@Suite(.patient)
struct AbandonedThreadTests {
    @discardableResult
    private static func deadlock(schedules: Int) -> SimulationReport {
        search(
            "crossed", schedules: schedules, strategy: .priorities(depth: 2),
            ignoring: [.deadlock, .lockOrder]
        ) { sim in
            let (one, two) = (CriticalSection(), CriticalSection())
            sim.spawn("alice") { one.execute { two.execute {} } }
            sim.spawn("bob") { two.execute { one.execute {} } }
        }
    }

    /// In a process of its own, since later searches of the process are refused.
    @Test func `Law 33: a process that deadlocks have filled with threads is told so`() async {
        await #expect(processExitsWith: .success) {
            HostThread.mostAbandoned.withLock { $0 = 100 }
            let report = Self.deadlock(schedules: 100_000)
            precondition(report.failure?.kind == .misuse, "\(report)")
            precondition(report.description.contains("100 blocked threads"), "\(report)")
            precondition(report.schedules < 100_000, "\(report)")
            let next = search("next", schedules: 10) { sim in sim.spawn("alice") {} }
            precondition(next.failure?.kind == .misuse, "\(next)")
        }
    }

    /// Each writer of a coordinator looks at all living threads, and simulated threads take slower
    /// paths everywhere.
    @Test func `A thread that is left makes nothing slower that comes after it`() async {
        await #expect(processExitsWith: .success) {
            let before = SimulationHooks.threadCount
            let report = Self.deadlock(schedules: 200)
            precondition(report.failure == nil, "\(report)")
            // They end a little after the search.
            let deadline = ContinuousClock.now + Patience.event
            while SimulationHooks.threadCount > before + 2 || SimulationHooks.isAnywhere {
                let more = SimulationHooks.threadCount - before
                precondition(.now < deadline, "\(more) threads more")
                sched_yield()
            }
        }
    }

    #if !DEBUG
    /// The system gives a process some 65,000 mappings, and each stack had two. In the build of the
    /// thread sanitizer, a debug build, such a thread does not end.
    @Test func `A stack that is left is no mapping of its own`() async {
        await #expect(processExitsWith: .success) {
            func mappings() throws -> Int {
                let text = try String(contentsOfFile: "/proc/self/maps", encoding: .utf8)
                return text.split(separator: "\n").count
            }
            Self.deadlock(schedules: 1_000)
            guard let before = try? mappings() else { return }
            Self.deadlock(schedules: 20_000)
            let added = try mappings() - before
            precondition(added < 1_000, "\(added) mappings were added")
        }
    }
    #endif
}
