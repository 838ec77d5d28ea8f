import Dispatch
import ExecutionContexts
import Foundation
import Synchronization
import TestSupport
import Testing

/// A pool runs every job, whatever its jobs wait for.
@Suite(.patient)
struct WorkerPoolTests {
    @Test(arguments: [1, 2, 5])
    func `Law 11: at most as many jobs run at a time as the pool is wide`(_ width: Int) async {
        await watched {
            let pool = WorkerPool(width: width)
            // Without a lock: while a job sleeps in a lock, the pool may run another one.
            let beside = WidthCount()
            let done = DispatchGroup()
            for _ in 0..<2_000 {
                done.enter()
                pool.execute {
                    beside.visit()
                    done.leave()
                }
            }
            done.wait()
            #expect(beside.most <= width)
        }
    }

    @Test func `Law 20: as many jobs as the limit of threads can wait for one another`() async {
        await watched {
            let pool = WorkerPool(width: 2, limit: 24)
            let begun = DispatchSemaphore(value: 0)
            let mayEnd = DispatchSemaphore(value: 0)
            let done = DispatchGroup()
            for _ in 0..<24 {
                done.enter()
                pool.execute {
                    begun.signal()
                    mayEnd.wait()
                    done.leave()
                }
            }
            for _ in 0..<24 { begun.wait() }
            #expect(pool.statistics.active == 24)
            for _ in 0..<24 { mayEnd.signal() }
            done.wait()
        }
    }

    @Test func `Law 20: a wait that the library knows of makes room at once, up to the limit`()
        async
    {
        await watched {
            let pool = WorkerPool(width: 1, limit: 8)
            let gates = (0..<8).map { _ in Promise<Int>() }
            let sums = (0..<8).map { index in
                pool.submit { () -> Int in
                    // Each job waits for its gate. The next job opens it; the test opens the last.
                    let next = try gates[index].async.wait()
                    return next + 1
                }
            }
            for (index, sum) in sums.enumerated().dropFirst() { gates[index - 1].follow(sum) }
            gates[7].succeed(0)
            #expect((try? sums[0].wait()) == 8)
            withExtendedLifetime(gates) {}
        }
    }

    @Test func `Law 20: jobs that wait for jobs that they submitted end`() async {
        await watched {
            let pool = WorkerPool(width: 2, limit: 64)
            @Sendable func sum(_ depth: Int) -> Int {
                if depth == 0 { return 1 }
                let (left, right) = (pool.submit { sum(depth - 1) }, pool.submit { sum(depth - 1) })
                return try! left.wait() + right.wait()
            }
            #expect((try? pool.submit { sum(5) }.wait()) == 32)
        }
    }

    @Test func `Law 20: a long job does not delay the jobs that it has submitted`() async {
        await watched {
            let pool = WorkerPool(width: 2)
            let hasRun = Box(false)
            let done = DispatchSemaphore(value: 0)
            pool.execute {
                pool.execute { hasRun.value = true }
                waitUntil { hasRun.value }
                done.signal()
            }
            done.wait()
        }
    }

    @Test func `Law 20: a job that never ends occupies only its own permit`() async {
        await watched {
            let pool = WorkerPool(width: 2)
            let mayEnd = Box(false)
            pool.execute { waitUntil { mayEnd.value } }
            let done = DispatchGroup()
            for _ in 0..<1_000 {
                done.enter()
                pool.execute { pool.execute { done.leave() } }
            }
            done.wait()
            mayEnd.value = true
            try! pool.drained().wait()
        }
    }

    @Test func `Law 1: a deep backlog runs to its end`() async {
        await watched {
            let pool = WorkerPool(width: 2)
            let count = rounds(debug: 100_000, release: 2_000_000)
            let ran = RunCount()
            pool.execute {
                for _ in 0..<count { pool.execute { ran.hit() } }
            }
            try! pool.drained().wait()
            #expect(ran.value == count)
            #expect(pool.statistics.begun == count + 1)
            #expect(pool.statistics.pending == 0)
        }
    }

    @Test func `Law 1: jobs submitted by many threads run once each`() async {
        await watched {
            let pool = WorkerPool(width: 3)
            let each = rounds(debug: 200, release: 5_000)
            let ran = RunCount()
            onThreads(100) { for _ in 0..<each { pool.execute { ran.hit() } } }
            try! pool.drained().wait()
            #expect(ran.value == 100 * each)
        }
    }

    @Test func `Law 10: a job may release the last reference to its pool`() async {
        await watched {
            let sentinels = Sentinels()
            let done = DispatchSemaphore(value: 0)
            for _ in 0..<50 {
                let pool = Box<WorkerPool?>(WorkerPool(width: 2))
                let sentinel = sentinels.make()
                pool.value!.execute {
                    pool.value!.execute {
                        withExtendedLifetime(sentinel) { _ = done.signal() }
                    }
                    pool.value = nil
                }
            }
            for _ in 0..<50 { done.wait() }
            waitUntil { sentinels.living == 0 }
        }
    }

    @Test func `Law 11: a pool without jobs has no thread`() async {
        await watched {
            let pool = WorkerPool(width: 2)
            for _ in 0..<100 { pool.execute {} }
            try! pool.drained().wait()
            waitUntil { pool.statistics.active == 0 }
            #expect(pool.statistics.waiting == 0)
        }
    }

    @Test func `Law 4: a job of one pool is not current on another pool`() async {
        await watched {
            let (pool, other) = (WorkerPool(width: 1), WorkerPool(width: 1))
            let seen = try! pool.submit {
                [pool.isCurrent, other.isCurrent, pool.prioritized(.low).isCurrent]
            }
            .wait()
            #expect(seen == [true, false, true])
            #expect(pool.isCurrent == false)
        }
    }
}

/// Counts runs on many threads at a time.
final class RunCount: Sendable {
    private let count = Box(0)
    var value: Int { count.value }
    func hit() { count.withValue { $0 += 1 } }
}

/// Counts the jobs that run at a time.
private final class WidthCount: Sendable {
    private let present = Atomic<Int>(0)
    private let largest = Atomic<Int>(0)

    // Relaxed, all: figures, each of which is right by itself.
    var most: Int { largest.load(ordering: .relaxed) }

    func visit() {
        let now = present.add(1, ordering: .relaxed).newValue
        largest.max(now, ordering: .relaxed)
        for _ in 0..<100 { _ = present.load(ordering: .relaxed) }
        present.subtract(1, ordering: .relaxed)
    }
}
