import Dispatch
import ExecutionContexts
import ExecutionContextsWork
import Foundation
import Measuring

/// The prioritized queue beside `OperationQueue`, and the overhead of rate limiting and debouncing.
enum WorkQueueBenchmarks {
    static func run(_ bench: Bench) {
        for pending in [1_000, 100_000] { priorities(bench, pending: pending) }
        for limit in [1, 4] { jobs(bench, limit: limit) }
        limiter(bench)
        debounce(bench)
        bytes(bench)
    }

    /// Changes the priority of each of `pending` queued jobs twice, while no job runs.
    private static func priorities(_ bench: Bench, pending: Int) {
        let count = bench.isQuick ? pending / 10 : pending
        let queue = PrioritizedQueue(on: .global, limit: 0)
        let works = (0..<count).map { _ in queue.submit(priority: .low) {} }
        let operations = OperationQueue()
        operations.isSuspended = true
        let blocks = (0..<count).map { _ in BlockOperation {} }
        for block in blocks {
            block.queuePriority = .low
            operations.addOperation(block)
        }
        // The small queue is traversed more often, so that both sizes take a measurable time.
        let times = max(20_000 / count, 1)
        bench.compare(
            "a priority, \(count) pending; OperationQueue", operations: count * times * 2,
            ours: {
                for _ in 0..<times {
                    for work in works { work.priority = .high }
                    for work in works { work.priority = .low }
                }
            },
            theirs: {
                for _ in 0..<times {
                    for block in blocks { block.queuePriority = .high }
                    for block in blocks { block.queuePriority = .low }
                }
            })
        for work in works { work.cancel() }
        for block in blocks { block.cancel() }
    }

    private static func jobs(_ bench: Bench, limit: Int) {
        let count = bench.count(100_000)
        let queue = PrioritizedQueue(on: .global, limit: limit)
        let operations = OperationQueue()
        operations.maxConcurrentOperationCount = limit
        let theirs = {
            sharedTally.expect(count)
            for _ in 0..<count { operations.addOperation { sharedTally.hit() } }
            sharedTally.wait()
        }
        bench.compare(
            "execute and run, limit \(limit); OperationQueue", operations: count, bar: "<= 500 ns",
            ours: {
                sharedTally.expect(count)
                for _ in 0..<count { queue.execute { sharedTally.hit() } }
                sharedTally.wait()
            }, theirs: theirs)
        bench.compare(
            "submit and run, limit \(limit); OperationQueue", operations: count, bar: "<= 900 ns",
            ours: {
                sharedTally.expect(count)
                for _ in 0..<count { queue.submit { sharedTally.hit() } }
                sharedTally.wait()
            }, theirs: theirs)
        let pool = PrioritizedQueue(on: .pool, limit: limit)
        bench.compare(
            "the same, limit \(limit), on the pool; OperationQueue", operations: count,
            bar: "<= 900 ns",
            ours: {
                sharedTally.expect(count)
                for _ in 0..<count { pool.submit { sharedTally.hit() } }
                sharedTally.wait()
            }, theirs: theirs)
    }

    private static func limiter(_ bench: Bench) {
        let count = bench.count(100_000)
        let context = GlobalContext().serial(named: "limited")
        let limiter = RateLimiter(on: context, rate: 1e9, burst: 1_000_000_000)
        bench.compare(
            "through a rate limiter; the serial view", operations: count, bar: "<= 250 ns",
            ours: {
                tally.expect(count)
                for _ in 0..<count { limiter.execute { tally.hit() } }
                tally.wait()
            },
            theirs: {
                tally.expect(count)
                for _ in 0..<count { context.execute { tally.hit() } }
                tally.wait()
            })
    }

    private static func debounce(_ bench: Bench) {
        let count = bench.count(100_000)
        let context = GlobalContext().serial(named: "quiet")
        let debounced = context.debounced(by: .seconds(3_600)) { (_: Int) in }
        var item = DispatchWorkItem {}
        let queue = DispatchQueue(label: "quiet")
        bench.compare(
            "a debounced call; a new DispatchWorkItem", operations: count,
            ours: { for index in 0..<count { debounced(index) } },
            theirs: {
                for _ in 0..<count {
                    item.cancel()
                    item = DispatchWorkItem {}
                    queue.asyncAfter(deadline: .now() + 3_600, execute: item)
                }
            })
        debounced.cancel()
        item.cancel()
    }

    private static func bytes(_ bench: Bench) {
        let count = 20_000
        let queue = PrioritizedQueue(on: .global, limit: 0)
        let start = allocatedBytes()
        for _ in 0..<count { queue.execute {} }
        let plain = allocatedBytes()
        for _ in 0..<count { queue.submit {} }
        let answers = allocatedBytes()
        let operations = OperationQueue()
        operations.isSuspended = true
        let before = allocatedBytes()
        for _ in 0..<count { operations.addOperation {} }
        let theirs = allocatedBytes()
        bench.figure(
            "bytes a pending job; OperationQueue",
            "\((plain - start) / count)".leftPadded(10)
                + "\((theirs - before) / count)".leftPadded(11))
        bench.figure(
            "bytes a pending job with an Async", "\((answers - plain) / count)".leftPadded(10))
        operations.cancelAllOperations()
        operations.isSuspended = false
        queue.limit = 8
        operations.waitUntilAllOperationsAreFinished()
    }
}
