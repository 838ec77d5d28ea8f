import Dispatch
import Synchronization
import Testing

@testable import ExecutionContexts

/// When the monitor gives a pool up, and when a started worker begins no job.
struct WorkerAccountingTests {
    /// A pool with one worker, as its monitor sees it.
    private final class Watched {
        private let core: PoolCore
        private let worker: PoolWorker
        private var accounting = WorkerAccounting(width: 1)

        init() {
            core = PoolCore(name: "watched", width: 1, limit: 1, qos: 0)
            worker = PoolWorker(of: core, number: 1)
        }

        func begin() { accounting.begin(worker) }
        func end() { accounting.moveToIdleSet(worker) }
        /// Looks, and returns whether the watch ends.
        func isGivenUp() -> Bool { accounting.hasSleptSinceLook() }
    }

    @Test func `Law 11: a look after which no job has run ends the watch`() {
        let pool = Watched()
        pool.begin()
        pool.end()
        // This look finds that a worker has had a thread.
        #expect(!pool.isGivenUp())
        #expect(pool.isGivenUp())
    }

    @Test func `Law 11: a job between two looks keeps the watch, though none runs at them`() {
        let pool = Watched()
        for _ in 0..<10 {
            pool.begin()
            pool.end()
            #expect(!pool.isGivenUp())
        }
        #expect(pool.isGivenUp())
    }

    @Test func `Law 11: a job that runs at a look keeps the watch for one look after it`() {
        let pool = Watched()
        pool.begin()
        for _ in 0..<3 { #expect(!pool.isGivenUp()) }
        pool.end()
        #expect(!pool.isGivenUp())
        #expect(pool.isGivenUp())
    }

    @Test func `The workers of the statistics are the active ones and those that park`() {
        let core = PoolCore(name: "counted", width: 4, limit: 4, qos: 0)
        let workers = (1...4).map { PoolWorker(of: core, number: $0) }
        core.accounting.withLock { accounting in
            for worker in workers { accounting.begin(worker) }
        }
        #expect(PoolStatistics(of: core).workers == 4)
        workers[3].beginTimedPark()
        core.accounting.withLock { accounting in
            for worker in workers[1...] { accounting.moveToIdleSet(worker) }
        }
        // The last one still has its thread.
        #expect(PoolStatistics(of: core).workers == 2)
        workers[3].endTimedPark()
        #expect(PoolStatistics(of: core).workers == 1)
    }

    @Test func `Law 11: looks come quickly for a while after one that finds only sleepers`() {
        let looks = [false, true, true] + Array(repeating: false, count: 20)
        var accounting = WorkerAccounting(width: 1)
        var quick: [Bool] = []
        for findsOnlySleepers in looks {
            quick.append(accounting.isStarved(findsOnlySleepers: findsOnlySleepers))
        }
        #expect(quick.prefix(4) == [false, true, true, true])
        #expect(quick.last == false)
    }

    @Test func `Law 11: a thread that comes late begins no job beside one that has continued`() {
        let core = PoolCore(name: "late", width: 1, limit: 4, qos: 0)
        let (stalled, late) = (PoolWorker(of: core, number: 1), PoolWorker(of: core, number: 2))
        core.accounting.withLock { accounting in
            accounting.begin(stalled)
            accounting.markStalled(stalled)
            accounting.begin(late)
            accounting.markRunning(stalled)
            core.publish(&accounting)
        }
        // On behalf of the started worker.
        core.searching.add(1, ordering: .relaxed)
        let hasRun = DispatchSemaphore(value: 0)
        #expect(core.submit(UnmanagedWork { hasRun.signal() }, .medium))
        // The late thread: it runs no job, and goes idle.
        core.work(late)
        #expect(late.begunCount == 0)
        // The other one ends its job and leaves.
        core.accounting.withLock { accounting in
            accounting.moveToIdleSet(stalled)
            core.publish(&accounting)
        }
        core.startWorkerIfNeeded()
        hasRun.wait()
    }
}
