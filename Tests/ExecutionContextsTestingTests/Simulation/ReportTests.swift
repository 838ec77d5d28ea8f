import ExecutionContexts
import ExecutionContextsTesting
import TestSupport
import Testing

/// A report says what was tried, and what was not.
@Suite(.patient)
struct ReportTests {
    @Sendable private static func count(_ sim: SimulatedWorld) {
        let count = Tracked(0, name: "count")
        for name in ["alice", "bob"] { sim.spawn(name) { count.value += 1 } }
        sim.finally("counted") { count.value > 0 }
    }

    @Test(arguments: [
        SimulationStrategy.portfolio, .random, .walk, .priorities(depth: 3), .exhaustive,
        .exhaustive(switches: 9),
    ])
    func `Law 33: schedules that were run before are not counted as distinct`(
        strategy: SimulationStrategy
    ) {
        let report = search("counting", schedules: 2_000, strategy: strategy, Self.count)
        // Each thread begins, reads, writes and ends: there are up to 70 orders, and 4 that matter.
        #expect((4...70).contains(report.distinctSchedules), "\(report.distinctSchedules)")
        #expect(report.distinctSchedules <= report.schedules)
        if report.isComplete { #expect(report.distinctSchedules == report.schedules) }
        #expect(report.choices > 0 && report.pendingTimes == 0)
        #expect(report.description.contains("of the first schedule"), "\(report)")
        #expect(!report.description.contains("did not race"), "\(report)")
    }

    @Test func `Law 33: a report says that time limits did not race`() async {
        for time in [SimulationTime.whenIdle, .racing] {
            let report = await search("limited", schedules: 200, time: time) { sim in
                let watchdog = Task { try? await sim.clock.sleep(for: .seconds(1)) }
                let work = Task { await Task.yield() }
                await work.value
                watchdog.cancel()
                _ = await watchdog.value
            }
            #expect(report.failure == nil, "\(report)")
            #expect(report.pendingTimes > 0)
            #expect(report.description.contains("did not race") == (time == .whenIdle), "\(report)")
        }
        let threads = await search("delayed", schedules: 10) { sim in
            let context = sim.serial(named: "timer")
            sim.spawn("alice") {
                _ = context.schedule(after: .seconds(1)) {}
                sim.step()
            }
        }
        #expect(threads.pendingTimes > 0)
    }

    @Test func `Law 33: a report says that one thread alone could run`() {
        let report = search("alone", schedules: 20, ignoring: [.vacuous]) { sim in
            sim.spawn("alice") { sim.step() }
        }
        #expect(report.choices == 0 && report.distinctSchedules == 1)
        #expect(
            report.description == """
                Nothing was found in 20 schedules, 1 of them distinct. One thread at a time could run, \
                so orders were not tested. Uses of variables and atomics, and of a Mutex that is free, are \
                no scheduling points.
                """, "\(report)")
    }

    @Test func `Law 33: a complete search says so, and a failure speaks for itself`() {
        let complete = search("complete", strategy: .exhaustive, Self.count)
        #expect(complete.isComplete)
        #expect(complete.description.contains("No schedule is left to try."), "\(complete)")
        let failed = search("failing") { sim in
            Self.count(sim)
            sim.finally("never") { false }
        }
        #expect(failed.description == failed.failure?.description)
        #expect(failed.distinctSchedules == 1)
    }
}
