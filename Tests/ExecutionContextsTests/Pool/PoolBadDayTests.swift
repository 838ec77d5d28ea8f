import Dispatch
import ExecutionContexts
import Synchronization
import TestSupport
import Testing

/// Loads that stall other pools: backlogs, jobs that wait for other jobs, many delays at a time.
@Suite(.patient)
struct PoolBadDayTests {
    /// The context that runs the jobs.
    enum PoolKind: CaseIterable {
        case shared, own, narrow

        var context: any ExecutionContext {
            switch self {
            case .shared: .pool
            case .own: WorkerPool(width: 2)
            case .narrow: WorkerPool(width: 1)
            }
        }
    }

    @Test(arguments: PoolKind.allCases)
    func `Law 20: a diamond of jobs that wait for each other ends`(_ kind: PoolKind) async {
        await watched {
            let context = kind.context
            for _ in 0..<rounds(debug: 50, release: 2_000) {
                let top = context.submit { 1 }
                let left = context.submit { try top.wait() + 1 }
                let right = context.submit { try top.wait() + 2 }
                let bottom = context.submit { try left.wait() + right.wait() }
                #expect((try? bottom.wait()) == 5)
            }
        }
    }

    @Test(arguments: PoolKind.allCases)
    func `Law 20: waits that are nested up to the limit of threads end`(_ kind: PoolKind) async {
        await watched {
            let context = kind.context
            @Sendable func nest(_ depth: Int) throws -> Int {
                depth == 0 ? 0 : try context.submit { try nest(depth - 1) }.wait() + 1
            }
            #expect((try? nest(40)) == 40)
        }
    }

    @Test(arguments: PoolKind.allCases)
    func `Law 20: a barber who sleeps until a customer comes serves all of them`(_ kind: PoolKind)
        async
    {
        await watched {
            let context = kind.context
            let customers = rounds(debug: 200, release: 5_000)
            let (arrived, served) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
            let barber = context.submit {
                for _ in 0..<customers {
                    WorkerPool.blocking { arrived.wait() }
                    served.signal()
                }
            }
            // Each customer waits in the pool for the barber, and the barber waits there, too.
            let visits = Async.traverse(0..<customers, atMost: 8) { _ in
                context.submit {
                    arrived.signal()
                    WorkerPool.blocking { served.wait() }
                }
            }
            #expect((try? barber.wait()) != nil)
            #expect((try? visits.wait())?.count == customers)
        }
    }

    @Test func `Law 1: ten million queued jobs run once each`() async {
        await watched {
            let pool = WorkerPool(width: 2)
            let count = rounds(debug: 300_000, release: 10_000_000)
            let counts = Counts()
            let (isBlocked, mayGoOn) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
            // Until all are queued, only workers that the monitor starts run any.
            for _ in 0..<2 {
                pool.execute {
                    isBlocked.signal()
                    mayGoOn.wait()
                }
            }
            for _ in 0..<2 { isBlocked.wait() }
            for _ in 0..<count { pool.execute { counts.run() } }
            for _ in 0..<2 { mayGoOn.signal() }
            try! pool.drained().wait()
            #expect(counts.ran == count)
        }
    }

    @Test
    func `Law 1: with millions of jobs, steals and cancellations, each job runs at most once`()
        async
    {
        await watched {
            let pool = WorkerPool(width: 3)
            let rounds = rounds(debug: 4_000, release: 400_000)
            let counts = Counts()
            onThreads(3) {
                for round in 0..<rounds {
                    let async = pool.submit { counts.run() }
                    if round % 3 == 0 { async.cancel() }
                    async.onComplete { outcome in
                        if case .failure = outcome { counts.cancel() } else { counts.end() }
                    }
                    if round % 64 == 0 { pool.execute { for _ in 0..<8 { pool.execute {} } } }
                }
            }
            try! pool.drained().wait()
            #expect(counts.ended + counts.cancelled == 3 * rounds)
            #expect(counts.ran >= counts.ended)
        }
    }

    @Test func `Law 7: of many delays that are due together, all that were not cancelled run`()
        async
    {
        await watched {
            let pool = WorkerPool(width: 2)
            let count = rounds(debug: 20_000, release: 500_000)
            let counts = Counts()
            let delays = (0..<count).map { _ in
                pool.schedule(after: .milliseconds(20)) { counts.run() }
            }
            var cancelled = 0
            for delay in delays where delay.cancel() { cancelled += 1 }
            waitUntil { counts.ran + cancelled == count }
            try! pool.drained().wait()
            #expect(counts.ran + cancelled == count)
        }
    }
}

/// What became of the jobs. Relaxed, all: figures, read after all jobs have ended.
private final class Counts: Sendable {
    private let begun = Atomic<Int>(0)
    private let finished = Atomic<Int>(0)
    private let cancellations = Atomic<Int>(0)

    var ran: Int { begun.load(ordering: .relaxed) }
    var ended: Int { finished.load(ordering: .relaxed) }
    var cancelled: Int { cancellations.load(ordering: .relaxed) }

    func run() { begun.add(1, ordering: .relaxed) }
    func end() { finished.add(1, ordering: .relaxed) }
    func cancel() { cancellations.add(1, ordering: .relaxed) }
}
