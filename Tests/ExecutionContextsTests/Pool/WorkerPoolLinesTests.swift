import Dispatch
import ExecutionContexts
import Testing

/// What waits before a pool, in whichever of its lines, begins once and in its turn.
@Suite(.timeLimit(.minutes(30)))
struct WorkerPoolLinesTests {
    @Test func `What waits behind a piece that waits begins though others never run out of work`() async {
        await watched {
            let pool = WorkerPool(width: 1)
            let (left, mayEnd) = (Box(5), DispatchSemaphore(value: 0))
            @Sendable func feed() {
                if left.value > 0 { pool.execute(feed) } else { mayEnd.signal() }
            }
            pool.execute {
                for _ in 0..<5 { pool.execute { left.withValue { $0 -= 1 } } }
                // By something that the pool does not know of; another worker is called after a while, and feeds itself.
                mayEnd.wait()
            }
            pool.execute(feed)
            try! pool.drained().wait()
            #expect(left.value == 0)
        }
    }

    @Test(arguments: [1, 2, 4])
    func `Law 1: what a worker's ring has no room for runs once, and is freed`(_ width: Int) async {
        await watched {
            let pool = WorkerPool(width: width)
            let (runs, sentinels) = (Box([Int](repeating: 0, count: 4_000)), Sentinels())
            pool.execute {
                for number in 0..<4_000 {
                    let sentinel = sentinels.make()
                    pool.execute { withExtendedLifetime(sentinel) { runs.withValue { $0[number] += 1 } } }
                }
            }
            try! pool.drained().wait()
            #expect(runs.value.allSatisfy { $0 == 1 })
            #expect(sentinels.living == 0)
        }
    }

    @Test func `What waits longest begins though what came later never ends`() async {
        await watched {
            let pool = WorkerPool(width: 1)
            let left = Box(600)
            // Two more for each: what waits grows, and the newest of it comes first.
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

    @Test func `Figures count what waits in every line`() async {
        await watched {
            // One worker in all, so that no substitute begins any.
            let pool = WorkerPool(width: 1, limit: 1)
            let (isBusy, mayGoOn) = (DispatchSemaphore(value: 0), BusyWait())
            pool.execute {
                for _ in 0..<300 { pool.execute {} }
                isBusy.signal()
                mayGoOn.run()
            }
            isBusy.wait()
            for priority in WorkPriority.allCases { pool.prioritized(priority).execute {} }
            #expect(pool.statistics.pending == 305)
            mayGoOn.end()
            try! pool.drained().wait()
            #expect(pool.statistics.pending == 0 && pool.statistics.begun == 306)
        }
    }

    @Test func `A refused piece is freed at once`() {
        let (pool, sentinels) = (WorkerPool(width: 1), Sentinels())
        _ = pool.shutDown()
        do {
            let sentinel = sentinels.make()
            #expect(throws: Refusal.self) {
                try pool.tryExecute { withExtendedLifetime(sentinel) { _ = Issue.record("It has run.") } }
            }
        }
        #expect(sentinels.living == 0)
    }

    /// What a callback of the end of a pool's work does, on the thread that it gets.
    enum Afterthought: CaseIterable {
        case submits, submitsAndWaits, blocks, hops
    }

    @Test(arguments: Afterthought.allCases, [1, 2])
    func `Law 1: a pool goes on after a callback of its end, whatever that does`(
        _ afterthought: Afterthought, _ width: Int
    ) async {
        await watched {
            let pool = WorkerPool(width: width)
            for _ in 0..<20 {
                let (mayEnd, isDone) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
                // It is a worker, then, that ends the work.
                pool.execute { mayEnd.wait() }
                let end = pool.drained()
                let done: @Sendable () -> Void = { isDone.signal() }
                if afterthought == .hops {
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
