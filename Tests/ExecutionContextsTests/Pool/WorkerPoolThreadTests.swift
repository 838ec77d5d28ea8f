import Dispatch
import ExecutionContexts
import Foundation
import TestSupport
import Testing

/// The threads of all pools of the process.
@Suite(.serialized, .patient)
struct WorkerPoolThreadTests {
    /// Submits `count` jobs that block in a foreign wait, and returns when all have begun.
    private func block(_ pool: some ExecutionContext, _ count: Int, until mayEnd: DispatchSemaphore)
    {
        let begun = DispatchSemaphore(value: 0)
        for _ in 0..<count {
            pool.execute {
                begun.signal()
                mayEnd.wait()
            }
        }
        for _ in 0..<count { begun.wait() }
    }

    @Test func `Law 11: pools full of blocked jobs do not prevent jobs of other contexts`() async {
        await watched {
            let mayEnd = DispatchSemaphore(value: 0)
            let pools = (0..<5).map { WorkerPool(name: "pool \($0)") }
            for pool in pools { block(pool, 60, until: mayEnd) }
            let done = DispatchGroup()
            let others: [any ExecutionContext] = [
                WorkerPool(), SerialQueueContext(name: "new"), BlockingContext(), .global, .pool,
            ]
            for other in others {
                done.enter()
                other.execute { done.leave() }
            }
            done.wait()
            for _ in 0..<300 { mayEnd.signal() }
            for pool in pools { try! pool.drained().wait() }
        }
    }

    @Test func `Law 11: a pool can use as many threads as its limit`() async {
        await watched {
            let mayEnd = DispatchSemaphore(value: 0)
            let limit = rounds(debug: 60, release: 400)
            let pool = WorkerPool(width: 2, limit: limit)
            block(pool, limit, until: mayEnd)
            #expect(pool.statistics.active == limit)
            for _ in 0..<limit { mayEnd.signal() }
            try! pool.drained().wait()
        }
    }

    @Test func `The workers of the statistics are those that have a thread`() async {
        await watched {
            let (mayEnd, lastMayEnd) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
            let pool = WorkerPool(width: 2, limit: 20)
            #expect(pool.statistics.workers == 0)
            block(pool, 1, until: lastMayEnd)
            block(pool, 19, until: mayEnd)
            #expect(pool.statistics.workers == 20)
            for _ in 0..<19 { mayEnd.signal() }
            waitUntil { pool.statistics.workers == 1 }
            lastMayEnd.signal()
            waitUntil { pool.statistics.workers == 0 }
        }
    }

    @Test func `Law 11: if all threads of the process are taken, each new pool still has one`()
        async throws
    {
        await #expect(processExitsWith: .success) {
            await offThePool {
                let (begun, mayEnd) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
                let blocking = BlockingContext(limit: 1_024)
                for _ in 0..<1_024 {
                    blocking.execute {
                        begun.signal()
                        mayEnd.wait()
                    }
                }
                for _ in 0..<1_024 { begun.wait() }
                for _ in 0..<3 {
                    let pool = WorkerPool(width: 2)
                    let runs = (0..<100).map { index in pool.submit { index } }
                    for run in runs { _ = try! run.wait() }
                }
                try! BlockingContext().submit {}.wait()
                for _ in 0..<1_024 { mayEnd.signal() }
            }
        }
    }

    @Test func `Law 11: a limit above that of the process traps with a message`() async throws {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent])
        {
            _ = WorkerPool(width: 1, limit: 1_025)
        }
        try expectTrap(result, "1024", "law 11", "smaller limit")
    }

    @Test func `Law 20: a pool detects blocked jobs also if no file can be opened`() async throws {
        await #expect(processExitsWith: .success) {
            // Takes all file descriptors, up to the usual limit: the system may allow far more.
            var files: [FileHandle] = []
            while files.count < 70_000, let file = FileHandle(forReadingAtPath: "/dev/null") {
                files.append(file)
            }
            let pool = WorkerPool(width: 1)
            let (mayEnd, done) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
            pool.execute {
                mayEnd.wait()
                done.signal()
            }
            pool.execute { mayEnd.signal() }
            done.wait()
            withExtendedLifetime(files) {}
        }
    }
}
