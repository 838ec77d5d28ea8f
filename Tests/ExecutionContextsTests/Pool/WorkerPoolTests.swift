import Dispatch
import ExecutionContexts
import Foundation
import Synchronization
import Testing

/// A pool runs everything, whatever its pieces wait for.
@Suite(.timeLimit(.minutes(30)))
struct WorkerPoolTests {
    @Test(arguments: [1, 2, 5])
    func `Law 11: no more pieces run at a time than the pool is wide`(_ width: Int) async {
        await watched {
            let pool = WorkerPool(width: width)
            // Without a lock: who sleeps in one has made room for another.
            let beside = Crowd()
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

    @Test func `Law 20: as many pieces as there may be threads can wait for one another`() async {
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

    @Test func `Law 20: waits that the library knows of make room at once, up to the limit`() async {
        await watched {
            let pool = WorkerPool(width: 1, limit: 8)
            let gates = (0..<8).map { _ in Promise<Int>() }
            let sums = (0..<8).map { index in
                pool.submit { () -> Int in
                    // Each waits for the one after it, and the last one opens the first gate.
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

    @Test func `Law 20: pieces that wait for their children end`() async {
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

    @Test func `Law 20: a piece that computes for long hides none that it has submitted`() async {
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

    @Test func `Law 20: a piece that never ends takes nothing but its place`() async {
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
            let ran = Tallied()
            pool.execute {
                for _ in 0..<count { pool.execute { ran.hit() } }
            }
            try! pool.drained().wait()
            #expect(ran.value == count)
            #expect(pool.statistics.begun == count + 1)
            #expect(pool.statistics.pending == 0)
        }
    }

    @Test func `Law 1: what many threads submit runs once each`() async {
        await watched {
            let pool = WorkerPool(width: 3)
            let each = rounds(debug: 200, release: 5_000)
            let ran = Tallied()
            onThreads(100) { for _ in 0..<each { pool.execute { ran.hit() } } }
            try! pool.drained().wait()
            #expect(ran.value == 100 * each)
        }
    }

    @Test func `Law 10: a piece may release the last reference to its pool`() async {
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

    @Test func `Law 11: a pool with nothing to do has no thread`() async {
        await watched {
            let pool = WorkerPool(width: 2)
            for _ in 0..<100 { pool.execute {} }
            try! pool.drained().wait()
            waitUntil { pool.statistics.active == 0 }
            #expect(pool.statistics.waiting == 0)
        }
    }

    @Test func `Law 4: the work of one pool is not current on another`() async {
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

/// Counts from many threads at a time.
final class Tallied: Sendable {
    private let count = Box(0)
    var value: Int { count.value }
    func hit() { count.withValue { $0 += 1 } }
}

/// How many are in one place at a time.
private final class Crowd: Sendable {
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
