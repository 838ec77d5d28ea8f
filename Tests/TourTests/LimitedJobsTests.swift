import ExecutionContexts
import ExecutionContextsObservation
import Foundation
import TestSupport
import Testing

@testable import Tour

/// What the recording of the Tour's limits shows.
@Suite(.patient)
struct LimitedJobsTests {
    /// Holds each caller until another one is here.
    private final class Meeting: @unchecked Sendable {
        // Unchecked: everything is under `condition`.
        private let condition = NSCondition()
        private var arrived = 0

        func arrive() {
            condition.withLock {
                arrived += 1
                condition.broadcast()
                let needed = (arrived + 1) / 2 * 2
                while arrived < needed { condition.wait() }
            }
        }
    }

    @Test func `Law 8: a view limited to 2 runs two jobs side by side, and never a third`() async {
        // Each job ends only after another one has begun, so two are recorded side by side.
        let meeting = Meeting()
        let limited = await LimitedJobs(count: 12, limit: 2) { meeting.arrive() }
        #expect(limited.recorder.jobs.count == 12)
        #expect(limited.recorder.jobs.allSatisfy { $0.state == .finished })
        #expect(limited.mostAtOnce == 2)
    }

    @Test func `Of a view limited to 1, the recording shows one job at a time`() async {
        let limited = await LimitedJobs(count: 50, limit: 1) {}
        #expect(limited.recorder.jobs.count == 50)
        #expect(limited.mostAtOnce == 1)
    }
}
