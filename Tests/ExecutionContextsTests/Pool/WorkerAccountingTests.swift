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

    /// A pool of width 1 whose only running worker has stalled, so that others are started.
    private final class Stalled {
        private let core = PoolCore(name: "stalled", width: 1, limit: 4, qos: 0)
        private let workers: [PoolWorker]
        private var accounting = WorkerAccounting(width: 1)

        init() {
            workers = (1...4).map { [core] in PoolWorker(of: core, number: $0) }
            accounting.begin(workers[0])
            accounting.markStalled(workers[0])
            accounting.extraPermits = 2
            for worker in workers[1...] { accounting.begin(worker) }
            accounting.extraPermits = 0
        }

        func stalledContinues() { accounting.markRunning(workers[0]) }
        func end(_ number: Int) { accounting.moveToIdleSet(workers[number]) }
        func begin(_ number: Int) { accounting.begin(workers[number]) }
        /// The started workers that may not begin a job.
        var superfluous: [Int] {
            (1...3).filter {
                workers[$0].record.isActive && accounting.isSuperfluous(workers[$0])
            }
        }
    }

    @Test func `Law 11: workers that were started for stalled ones begin jobs while those stall`() {
        #expect(Stalled().superfluous.isEmpty)
    }

    @Test func `Law 11: a worker that was started for a stalled one begins none beside it`() {
        let pool = Stalled()
        pool.stalledContinues()
        #expect(pool.superfluous == [1, 2, 3])
        // Those that run are as many as the pool is wide.
        for number in [0, 1, 2] { pool.end(number) }
        #expect(pool.superfluous.isEmpty)
        // A worker that is started now is started beside those that have continued.
        pool.begin(1)
        #expect(pool.superfluous == [3])
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
