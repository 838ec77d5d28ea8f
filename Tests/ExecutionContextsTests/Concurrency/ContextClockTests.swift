import Dispatch
import ExecutionContexts
import Foundation
import TestSupport
import Testing

/// The clock of contexts whose time is real.
@Suite(.patient)
struct ContextClockTests {
    @Test(
        .alsoSimulated,
        arguments: [Duration.milliseconds(2), .microseconds(300), .zero, .seconds(-1)])
    func `Law 7: a sleep on a real clock is not early`(_ duration: Duration) async throws {
        let clock = GlobalContext().clock
        let start = clock.now
        try await clock.sleep(for: duration)
        #expect(start.duration(to: clock.now) >= duration)
    }

    @Test(.alsoSimulated) func `Cancelling a sleep wakes its task and releases its delay`() async {
        // Nothing waits as long, and no simulation's horizon is as far.
        let end = Patience.event * 100
        let task = Task { try await GlobalContext().serial(named: "view").clock.sleep(for: end) }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    @Test(.alsoSimulated(5)) func `If cancelling races with waking, each sleep ends once`() async {
        let clock = GlobalContext().clock
        await withTaskGroup { group in
            for index in 0..<500 {
                let task = Task { try await clock.sleep(for: .microseconds(index % 50)) }
                group.addTask { _ = await task.result }
                if index % 2 == 0 { group.addTask { task.cancel() } }
            }
        }
    }

    @Test func `Law 7: no task is resumed on the timer's thread`() async throws {
        // An executor that records whether the timer's thread enqueues a job.
        final class EnqueueProbe: TaskExecutor {
            let wasFiring = Box(false)
            func enqueue(_ job: consuming ExecutorJob) {
                if SystemTime.isFiring { wasFiring.value = true }
                let job = UnownedJob(job)
                DispatchQueue.global().async { [self] in
                    // Unsafe only if run twice; a queue runs a block once.
                    unsafe job.runSynchronously(on: asUnownedTaskExecutor())
                }
            }
        }
        let executor = EnqueueProbe()
        try await Task(executorPreference: executor) {
            try await GlobalContext().clock.sleep(for: .milliseconds(1))
        }.value
        #expect(!executor.wasFiring.value)
    }
}
