import Dispatch
import ExecutionContexts
import Synchronization
import TestSupport
import Testing

/// No jobs prevent other jobs from beginning, whatever they submit.
@Suite(.patient)
struct WorkerPoolFairnessTests {
    /// Jobs that submit themselves again until `end()` is called.
    private final class Feeders: Sendable {
        private let isOver = Atomic<Bool>(false)
        private let runs = Atomic<Int>(0)
        private let least = Atomic<Int64>(.max)
        private let spins: Int

        init(_ count: Int, spins: Int, on context: any ExecutionContext) {
            self.spins = spins
            for _ in 0..<count { feed(context) }
        }

        // Relaxed, all: figures and a flag that no other memory depends on.
        var count: Int { runs.load(ordering: .relaxed) }
        /// The shortest job so far, in nanoseconds.
        var shortest: Int64 { least.load(ordering: .relaxed) }
        func end() { isOver.store(true, ordering: .relaxed) }

        @Sendable private func feed(_ context: any ExecutionContext) {
            context.execute { [self] in
                let start = ContinuousClock.now
                for _ in 0..<spins { _ = runs.load(ordering: .relaxed) }
                least.min(
                    Int64((ContinuousClock.now - start) / .nanoseconds(1)), ordering: .relaxed)
                runs.add(1, ordering: .relaxed)
                if !isOver.load(ordering: .relaxed) { feed(context) }
            }
        }
    }

    @Test(arguments: [WorkPriority.high, .medium], [1, 2])
    func `All jobs from outside run beside jobs that submit themselves again`(
        _ priority: WorkPriority, _ width: Int
    ) async {
        await watched {
            let pool = WorkerPool(width: width)
            let feeders = Feeders(2 * width, spins: 1_000, on: pool.prioritized(priority))
            for lower in [WorkPriority.low, .medium] {
                let done = DispatchGroup()
                for _ in 0..<300 {
                    done.enter()
                    pool.prioritized(lower).execute { done.leave() }
                }
                done.wait()
            }
            feeders.end()
            try! pool.drained().wait()
        }
    }

    @Test func `A job from outside waits for at most five milliseconds of other jobs`() async {
        await watched {
            let pool = WorkerPool(width: 1)
            // Each takes some hundred microseconds.
            let feeders = Feeders(4, spins: rounds(debug: 20_000, release: 200_000), on: pool)
            waitUntil { feeders.count > 8 }
            for _ in 0..<20 {
                let after = Box(0)
                let done = DispatchSemaphore(value: 0)
                pool.execute {
                    after.value = feeders.count
                    done.signal()
                }
                // The job waits from here on. Jobs that ran before this read do not count.
                let before = feeders.count
                done.wait()
                // A worker that was interrupted in a job from outside owes five milliseconds to
                // the feeders, at most; none of their jobs took less than the shortest.
                let most = TimeShares.quantum / 2 / feeders.shortest + 2
                #expect(after.value - before <= most)
            }
            feeders.end()
            try! pool.drained().wait()
        }
    }

    @Test func `A job behind a long one is run by a worker whose own jobs never run out`() async {
        await watched {
            let pool = WorkerPool(width: 2)
            let feeders = Feeders(1, spins: 100, on: pool)
            let (mayEnd, hasRun) = (BusyWait(), Box(0))
            pool.execute {
                for _ in 0..<40 { pool.execute { hasRun.withValue { $0 += 1 } } }
                mayEnd.run()
            }
            waitUntil { hasRun.value == 40 }
            mayEnd.end()
            feeders.end()
            try! pool.drained().wait()
        }
    }

    @Test func `The oldest overflow jobs run, though long jobs are added all the time`() async {
        await watched {
            let pool = WorkerPool(width: 1)
            let old = Box(600)
            let feeders = Box<Feeders?>(nil)
            pool.execute {
                for _ in 0..<600 { pool.execute { old.withValue { $0 -= 1 } } }
                feeders.value = Feeders(300, spins: rounds(debug: 2_000, release: 20_000), on: pool)
            }
            waitUntil { old.value == 0 }
            feeders.value?.end()
            try! pool.drained().wait()
        }
    }
}
