import Testing

@testable import ExecutionContexts

/// When the monitor gives a pool up.
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
}
