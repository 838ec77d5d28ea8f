import Dispatch
import ExecutionContexts
import TestSupport
import Testing

/// Each queued job of a pool runs once and is not starved, whichever queue holds it.
@Suite(.patient)
struct WorkerPoolQueueTests {
    @Test func `Jobs behind a blocked job run though another worker's jobs never run out`() async {
        await watched {
            let pool = WorkerPool(width: 1)
            let (left, mayEnd) = (Box(5), DispatchSemaphore(value: 0))
            @Sendable func feed() {
                if left.value > 0 { pool.execute(feed) } else { mayEnd.signal() }
            }
            pool.execute {
                for _ in 0..<5 { pool.execute { left.withValue { $0 -= 1 } } }
                // A foreign wait: the pool starts another worker after a while, whose jobs submit
                // themselves again.
                mayEnd.wait()
            }
            pool.execute(feed)
            try! pool.drained().wait()
            #expect(left.value == 0)
        }
    }

    @Test(arguments: [1, 2, 4])
    func `Law 1: jobs for which a worker's ring has no room run once, and are freed`(_ width: Int)
        async
    {
        await watched {
            let pool = WorkerPool(width: width)
            let (runs, sentinels) = (Box([Int](repeating: 0, count: 4_000)), Sentinels())
            pool.execute {
                for number in 0..<4_000 {
                    let sentinel = sentinels.make()
                    pool.execute {
                        withExtendedLifetime(sentinel) { runs.withValue { $0[number] += 1 } }
                    }
                }
            }
            try! pool.drained().wait()
            #expect(runs.value.allSatisfy { $0 == 1 })
            #expect(sentinels.living == 0)
        }
    }

    @Test func `The oldest jobs run though newer jobs never run out`() async {
        await watched {
            let pool = WorkerPool(width: 1)
            let left = Box(600)
            // Two more for each: the number of queued jobs grows.
            @Sendable func feed() {
                guard left.value > 0 else { return }
                for _ in 0..<2 { pool.execute {} }
                pool.execute(feed)
            }
            pool.execute {
                // More than a ring holds.
                for _ in 0..<600 { pool.execute { left.withValue { $0 -= 1 } } }
                feed()
            }
            try! pool.drained().wait()
            #expect(left.value == 0)
        }
    }

    @Test func `Statistics count the jobs in every queue`() async {
        await watched {
            // One worker in all, so that no substitute runs any.
            let pool = WorkerPool(width: 1, limit: 1)
            let (isBusy, mayGoOn) = (DispatchSemaphore(value: 0), BusyWait())
            pool.execute {
                for _ in 0..<300 { pool.execute {} }
                isBusy.signal()
                mayGoOn.run()
            }
            isBusy.wait()
            for priority in WorkPriority.allCases { pool.prioritized(priority).execute {} }
            // The monitor may move jobs during the call, which then misses them.
            while pool.statistics.pending != 305 {}
            mayGoOn.end()
            try! pool.drained().wait()
            #expect(pool.statistics.pending == 0 && pool.statistics.begun == 306)
        }
    }

    @Test func `A refused job is freed at once`() {
        let (pool, sentinels) = (WorkerPool(width: 1), Sentinels())
        _ = pool.shutDown()
        do {
            let sentinel = sentinels.make()
            #expect(throws: Refusal.self) {
                try pool.tryExecute {
                    withExtendedLifetime(sentinel) { _ = Issue.record("It has run.") }
                }
            }
        }
        #expect(sentinels.living == 0)
    }

    /// What a callback of `drained()` does, on the thread that runs it.
    enum Afterthought: CaseIterable {
        case submits, submitsAndWaits, blocks, changesContext
    }

    @Test(arguments: Afterthought.allCases, [1, 2])
    func `Law 1: a pool continues after a callback of drained(), whatever the callback does`(
        _ afterthought: Afterthought, _ width: Int
    ) async {
        await watched {
            let pool = WorkerPool(width: width)
            for _ in 0..<20 {
                let (mayEnd, isDone) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
                // So a worker completes `drained()`, and runs the callback.
                pool.execute { mayEnd.wait() }
                let end = pool.drained()
                let done: @Sendable () -> Void = { isDone.signal() }
                if afterthought == .changesContext {
                    end.onSuccess(on: pool.serial()) { _ in done() }
                } else {
                    end.onSuccess { _ in
                        if afterthought == .blocks { WorkerPool.blocking {} }
                        let hasRun = DispatchSemaphore(value: 0)
                        pool.execute {
                            hasRun.signal()
                            done()
                        }
                        if afterthought == .submitsAndWaits { hasRun.wait() }
                    }
                }
                mayEnd.signal()
                isDone.wait()
            }
            try! pool.shutDown().wait()
            #expect(pool.statistics.pending == 0 && pool.statistics.active == 0)
        }
    }
}
