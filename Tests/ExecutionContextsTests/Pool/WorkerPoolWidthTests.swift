import Dispatch
import ExecutionContexts
import Foundation
import Synchronization
import TestSupport
import Testing

/// A pool keeps to its width after waits that the library knows of.
@Suite(.patient)
struct WorkerPoolWidthTests {
    enum Wait: CaseIterable {
        case async, blocking, nested, serialElsewhere
    }

    @Test(arguments: Wait.allCases, [1, 2, 4])
    func `Law 11: after a wait that the library knows of a job continues when there is a permit`(
        _ wait: Wait, _ width: Int
    ) async {
        await watched {
            let pool = WorkerPool(width: width)
            let (gate, beside) = (Promise<Int>(), ConcurrencyCount())
            let (begun, mayGoOn) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
            // A context outside of the pool, so that the jobs do not wait for the pool itself.
            let other = SerialQueueContext(name: "elsewhere").serial(named: "view")
            let count = 45
            for _ in 0..<count {
                pool.execute {
                    begun.signal()
                    switch wait {
                    case .async: _ = try? gate.async.wait()
                    case .blocking: WorkerPool.blocking { mayGoOn.wait() }
                    case .nested: WorkerPool.blocking { _ = try? gate.async.wait() }
                    case .serialElsewhere: _ = try? other.submit { try gate.async.wait() }.wait()
                    }
                    beside.visit()
                }
            }
            for _ in 0..<count { begun.wait() }
            gate.succeed(1)
            for _ in 0..<count { mayGoOn.signal() }
            try! pool.drained().wait()
            // On a busy machine a job may sleep for long in a lock before or after its wait.
            #expect(beside.most <= width + pool.statistics.substitutes)
            #expect(pool.statistics.begun == count)
        }
    }

    enum Exclusive: CaseIterable { case section, view, coordinator, hold }

    @Test(arguments: Exclusive.allCases)
    func `Law 11: jobs that continue together after waits for exclusive access are counted`(
        _ kind: Exclusive
    ) async {
        await watched {
            let pool = WorkerPool(width: 1, limit: 32)
            let beside = ConcurrencyCount()
            let (begun, isTaken, mayEnd) = (
                DispatchSemaphore(value: 0), DispatchSemaphore(value: 0),
                DispatchSemaphore(value: 0)
            )
            let count = 10
            for _ in 0..<count {
                let section = CriticalSection()
                let coordinator = ReadWriteCoordinator()
                let view = GlobalContext().serial(named: "view")
                Thread.detachNewThread {
                    func keep() {
                        isTaken.signal()
                        mayEnd.wait()
                    }
                    switch kind {
                    case .section: section.execute { keep() }
                    case .view, .hold: view.sync { keep() }
                    case .coordinator: coordinator.blockingWrite { keep() }
                    }
                }
                isTaken.wait()
                pool.execute {
                    begun.signal()
                    switch kind {
                    case .section: section.execute { beside.visit() }
                    case .view: view.sync { beside.visit() }
                    case .coordinator: coordinator.blockingWrite { beside.visit() }
                    case .hold:
                        let hold = view.hold()
                        beside.visit()
                        hold.release()
                    }
                }
            }
            for _ in 0..<count { begun.wait() }
            waitUntil { pool.statistics.waiting == count }
            for _ in 0..<count { mayEnd.signal() }
            try! pool.drained().wait()
            #expect(beside.count == count)
            #expect(beside.most <= 1 + pool.statistics.substitutes)
        }
    }

    @Test(arguments: [1, 2])
    func `Law 11: a job that waits for a permit gets one, also if it has a lock that others want`(
        _ width: Int
    ) async {
        await watched {
            for _ in 0..<10 {
                let pool = WorkerPool(width: width)
                let (gate, lock) = (Promise<Int>(), DispatchSemaphore(value: 1))
                let (hasLock, wantLock) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
                pool.execute {
                    lock.wait()
                    hasLock.signal()
                    _ = try? gate.async.wait()
                    lock.signal()
                }
                hasLock.wait()
                for _ in 0..<width {
                    pool.execute {
                        wantLock.signal()
                        lock.wait()
                        lock.signal()
                    }
                }
                for _ in 0..<width { wantLock.wait() }
                gate.succeed(1)
                try! pool.drained().wait()
            }
        }
    }

    @Test func `Law 11: while more jobs run than the pool is wide, no job begins`() async {
        await watched {
            let pool = WorkerPool(width: 2)
            let (begun, mayGoOn, mayEnd) = (
                DispatchSemaphore(value: 0), DispatchSemaphore(value: 0), BusyWait()
            )
            // Foreign waits: the pool starts a substitute for each.
            for _ in 0..<12 {
                pool.execute {
                    begun.signal()
                    mayGoOn.wait()
                    mayEnd.run()
                }
            }
            for _ in 0..<12 { begun.wait() }
            for _ in 0..<12 { mayGoOn.signal() }
            let beside = ConcurrencyCount()
            pool.execute { beside.visit() }
            // The pool detects that all of them continue. No other worker has a thread, so none is
            // between its look at the width and its next job.
            waitUntil { pool.statistics.waiting == 0 && pool.statistics.active == 12 }
            let before = beside.count
            for _ in 0..<200 { pool.execute { beside.visit() } }
            waitForMonitor()
            #expect(beside.count == before)
            mayEnd.end()
            try! pool.drained().wait()
            #expect(beside.count == 201)
            #expect(beside.most <= 2 + pool.statistics.substitutes)
        }
    }

    @Test(arguments: [1, 2, 4])
    func `Law 11: the monitor never takes a computing job for a blocked one`(_ width: Int) async {
        await watched {
            let pool = WorkerPool(width: width)
            let (mayEnd, beside) = (BusyWait(), ConcurrencyCount())
            let begun = DispatchSemaphore(value: 0)
            for _ in 0..<width {
                pool.execute {
                    begun.signal()
                    mayEnd.run()
                }
            }
            for _ in 0..<width { begun.wait() }
            // A worker may have slept while it started the next worker's thread.
            waitUntil { pool.statistics.waiting == 0 }
            let before = pool.statistics.substitutes
            for _ in 0..<20 { pool.execute { beside.visit() } }
            for _ in 0..<4 { waitForMonitor() }
            #expect(beside.count == 0)
            #expect(pool.statistics.substitutes == before)
            mayEnd.end()
            try! pool.drained().wait()
            #expect(beside.most <= width + pool.statistics.substitutes)
        }
    }

    /// Returns when the monitor, which checks all pools, has looked a few times: it has found the
    /// blocked job of a pool made here.
    private func waitForMonitor() {
        let (pool, mayEnd) = (WorkerPool(width: 1), DispatchSemaphore(value: 0))
        pool.execute { mayEnd.wait() }
        pool.execute { mayEnd.signal() }
        try! pool.drained().wait()
        #expect(pool.statistics.substitutes > 0)
    }

    @Test func `Law 27: a job that waits for drained() of its own pool traps with a message`()
        async throws
    {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent])
        {
            let pool = WorkerPool(name: "thumbnails", width: 1)
            let done = DispatchSemaphore(value: 0)
            pool.execute {
                _ = try? pool.drained().map { _ in 1 }.wait()
                done.signal()
            }
            done.wait()
        }
        try expectTrap(result, "'thumbnails'", "law 27", "the caller is one")
    }
}

/// Counts the jobs that compute at a time.
final class ConcurrencyCount: Sendable {
    private let present = Atomic<Int>(0)
    private let largest = Atomic<Int>(0)
    private let visits = Atomic<Int>(0)

    // Relaxed, all: figures, each of which is right by itself.
    var most: Int { largest.load(ordering: .relaxed) }
    var count: Int { visits.load(ordering: .relaxed) }

    func visit() {
        visits.add(1, ordering: .relaxed)
        largest.max(present.add(1, ordering: .relaxed).newValue, ordering: .relaxed)
        for _ in 0..<20_000 { _ = present.load(ordering: .relaxed) }
        present.subtract(1, ordering: .relaxed)
    }
}
