import ExecutionContexts
import Foundation
import TestSupport
import Testing

@testable import ExecutionContextsTesting

/// What a search waits for that a thread outside of its simulation does.
@Suite(.patient)
struct ForeignUseTests {
    @Test func `Law 33: a use that was told before does not end the wait for a later one`() {
        let hosts = HostThreads()
        for number in 1...3 { hosts.report(foreign: "use \(number)") }
        #expect(hosts.takeForeignUse() == "use 1")
        let start = ContinuousClock.now
        #expect(hosts.awaitForeignUse() == nil)
        // Never early: a use may come until then.
        #expect(ContinuousClock.now - start >= HostThreads.patienceForForeignUse)
    }

    @Test func `Law 33: a use that is there is not waited for`() {
        let hosts = HostThreads()
        hosts.report(foreign: "a use")
        #expect(hosts.awaitForeignUse() == "a use")
    }

    @Test func `Law 33: a thread that resumes a task late is told, or was too late`() async {
        var kinds: Set<SimulationFailure.Kind?> = []
        // How late it is depends on the system, except the last time: then it comes after the
        // schedule, and the search asks for the task's name while no schedule runs.
        for turns in [0, 10, 100, nil] {
            let (begun, isOver) = (Box(0), Box(false))
            let report = await search("late", schedules: 5, ignoring: [.vacuous]) { _ in
                let schedule = begun.withValue { begun in
                    begun += 1
                    return begun
                }
                await withCheckedContinuation { next in
                    onThreadOutside {
                        for _ in 0..<(turns ?? 0) { sched_yield() }
                        while turns == nil && begun.value == schedule && !isOver.value {
                            sched_yield()
                        }
                        next.resume()
                    }
                }
            }
            isOver.value = true
            kinds.insert(report.failure?.kind)
        }
        #expect(kinds.isSubset(of: [.foreign, .lostWakeUp, .nondeterminism, nil]), "\(kinds)")
    }
}
