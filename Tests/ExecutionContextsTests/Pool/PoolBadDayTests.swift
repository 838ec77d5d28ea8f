import Dispatch
import ExecutionContexts
import Synchronization
import Testing

/// What brings pools to a stop elsewhere: backlogs, pieces that wait for others, storms of delays.
@Suite(.timeLimit(.minutes(30)))
struct PoolBadDayTests {
    /// Where the pieces run.
    enum Place: CaseIterable {
        case shared, own, narrow

        var context: any ExecutionContext {
            switch self {
            case .shared: .pool
            case .own: WorkerPool(width: 2)
            case .narrow: WorkerPool(width: 1)
            }
        }
    }

    @Test(arguments: Place.allCases)
    func `Law 20: a diamond of pieces that wait for each other ends`(_ place: Place) async {
        await watched {
            let context = place.context
            for _ in 0..<rounds(debug: 50, release: 2_000) {
                let top = context.submit { 1 }
                let left = context.submit { try top.wait() + 1 }
                let right = context.submit { try top.wait() + 2 }
                let bottom = context.submit { try left.wait() + right.wait() }
                #expect((try? bottom.wait()) == 5)
            }
        }
    }

    @Test(arguments: Place.allCases)
    func `Law 20: waits nested as deep as there may be threads end`(_ place: Place) async {
        await watched {
            let context = place.context
            @Sendable func nest(_ depth: Int) throws -> Int {
                depth == 0 ? 0 : try context.submit { try nest(depth - 1) }.wait() + 1
            }
            #expect((try? nest(40)) == 40)
        }
    }

    @Test(arguments: Place.allCases)
    func `Law 20: a barber who sleeps until a customer comes serves all of them`(_ place: Place) async {
        await watched {
            let context = place.context
            let customers = rounds(debug: 200, release: 5_000)
            let (arrived, served) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
            let barber = context.submit {
                for _ in 0..<customers {
                    WorkerPool.blocking { arrived.wait() }
                    served.signal()
                }
            }
            // Each customer waits in the pool for the barber, who waits there as well.
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

    private static let ran = Atomic<Int>(0)

    @Test func `Law 1: ten million pieces that wait are run, each once`() async {
        await watched {
            let pool = WorkerPool(width: 2)
            let count = rounds(debug: 300_000, release: 10_000_000)
            let (isBlocked, mayGoOn) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
            // Until all are there nobody runs any, but for those whom the watch lets in.
            for _ in 0..<2 {
                pool.execute {
                    isBlocked.signal()
                    mayGoOn.wait()
                }
            }
            for _ in 0..<2 { isBlocked.wait() }
            // Relaxed: the end of the pool orders it before the look below.
            for _ in 0..<count { pool.execute { Self.ran.add(1, ordering: .relaxed) } }
            for _ in 0..<2 { mayGoOn.signal() }
            try! pool.drained().wait()
            #expect(Self.ran.load(ordering: .relaxed) == count)
        }
    }

    @Test func `Law 1: millions of pieces, thefts and cancellations lose none and run none twice`() async {
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

    @Test func `Law 7: a storm of delays that are due together ends, cancelled ones apart`() async {
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

/// What became of the pieces. Relaxed, all: figures, read after everything has ended.
private final class Counts: Sendable {
    private let begun = Atomic<Int>(0)
    private let finished = Atomic<Int>(0)
    private let givenUp = Atomic<Int>(0)

    var ran: Int { begun.load(ordering: .relaxed) }
    var ended: Int { finished.load(ordering: .relaxed) }
    var cancelled: Int { givenUp.load(ordering: .relaxed) }

    func run() { begun.add(1, ordering: .relaxed) }
    func end() { finished.add(1, ordering: .relaxed) }
    func cancel() { givenUp.add(1, ordering: .relaxed) }
}
