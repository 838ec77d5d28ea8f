import Dispatch
import ExecutionContexts
import Foundation
import Measuring

/// The pool beside alternatives other than Dispatch, and its cost while it is idle or blocked.
enum PoolsAtWork {
    private static let pool = PoolBenchmarks.pool
    private static let queue = PoolBenchmarks.queue

    static func run(_ bench: Bench) {
        others(bench)
        waits(bench)
        bytes(bench)
        idle(bench)
        PoolLateness.run(bench)
    }

    private static func others(_ bench: Bench) {
        let count = bench.count(200_000)
        let operations = OperationQueue()
        operations.maxConcurrentOperationCount = ProcessInfo.processInfo.activeProcessorCount
        bench.compare(
            "outside -> pool, beside OperationQueue", operations: count,
            ours: {
                sharedTally.expect(count)
                for _ in 0..<count { pool.execute { sharedTally.hit() } }
                sharedTally.wait()
            },
            theirs: {
                sharedTally.expect(count)
                for _ in 0..<count { operations.addOperation { sharedTally.hit() } }
                sharedTally.wait()
            })
        bench.compare(
            "outside -> pool, beside Task", operations: count,
            ours: {
                sharedTally.expect(count)
                for _ in 0..<count { pool.execute { sharedTally.hit() } }
                sharedTally.wait()
            },
            theirs: {
                sharedTally.expect(count)
                for _ in 0..<count { Task.detached { sharedTally.hit() } }
                sharedTally.wait()
            })
        let (ping, pong) = (Ball(), Ball())
        bench.compare(
            "ping-pong of two serial contexts, beside actors", operations: count, bar: ">= 1",
            ours: {
                sharedTally.expect(1)
                PoolBenchmarks.ourHop(
                    count, PoolContext().serial(named: "ping"), PoolContext().serial(named: "pong"))
                sharedTally.wait()
            },
            theirs: {
                sharedTally.expect(1)
                Task.detached {
                    for _ in 0..<(count / 2) {
                        await ping.hit()
                        await pong.hit()
                    }
                    sharedTally.hit()
                }
                sharedTally.wait()
            })
    }

    private actor Ball {
        var hits = 0
        func hit() { hits += 1 }
    }

    private static func waits(_ bench: Bench) {
        bench.compare(
            "64 jobs that sleep for 50 ms", operations: 1, bar: "<= 200 ms",
            ours: {
                sharedTally.expect(64)
                for _ in 0..<64 {
                    pool.execute {
                        usleep(50_000)
                        sharedTally.hit()
                    }
                }
                sharedTally.wait()
            },
            theirs: {
                sharedTally.expect(64)
                for _ in 0..<64 {
                    queue.async {
                        usleep(50_000)
                        sharedTally.hit()
                    }
                }
                sharedTally.wait()
            })
        bench.compare(
            "16 jobs that wait for a later one", operations: 1, bar: "<= 100 ms",
            ours: {
                sharedTally.expect(16)
                for _ in 0..<16 { pool.execute(wait) }
                pool.execute { for _ in 0..<16 { semaphore.signal() } }
                sharedTally.wait()
            },
            theirs: {
                sharedTally.expect(16)
                for _ in 0..<16 { queue.async(execute: wait) }
                queue.async { for _ in 0..<16 { semaphore.signal() } }
                sharedTally.wait()
            })
    }

    private static let semaphore = DispatchSemaphore(value: 0)

    @Sendable private static func wait() {
        semaphore.wait()
        sharedTally.hit()
    }

    private static func bytes(_ bench: Bench) {
        let count = 500_000
        let counter = Counter()
        let narrow = WorkerPool(name: "bytes", width: 1, limit: 1)
        let canContinue = DispatchSemaphore(value: 0)
        narrow.execute { canContinue.wait() }
        let before = allocatedBytes()
        for index in 0..<count { narrow.execute { counter.value &+= index } }
        let after = allocatedBytes()
        bench.figure(
            "bytes a pending job, closure with two captures", "\((after - before) / count)",
            bar: "<= 70")
        canContinue.signal()
        let end = DispatchSemaphore(value: 0)
        narrow.drained().onComplete { _ in end.signal() }
        end.wait()
    }

    /// Measures the processor time of a pool that has just become idle.
    private static func idle(_ bench: Bench) {
        sharedTally.expect(1_000)
        for _ in 0..<1_000 { pool.execute { sharedTally.hit() } }
        sharedTally.wait()
        usleep(100_000)
        let milliseconds = bench.isQuick ? 200 : 2_000
        let used = processorTime { usleep(UInt32(milliseconds) * 1_000) }
        let share = Double(used) / Double(milliseconds * 1_000_000) * 100
        bench.figure("processor time of an idle pool", "\(share.formatted(3)) %", bar: "< 0.1 %")
    }
}
