import Dispatch
import ExecutionContexts
import Foundation
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
            let (gate, jobs) = (Promise<Int>(), JobsUnderWay(on: pool))
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
                    jobs.visit()
                }
            }
            for _ in 0..<count { begun.wait() }
            gate.succeed(1)
            for _ in 0..<count { mayGoOn.signal() }
            try! pool.drained().wait()
            jobs.expectNoExcess()
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
            let jobs = JobsUnderWay(on: pool)
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
                    case .section: section.execute { jobs.visit() }
                    case .view: view.sync { jobs.visit() }
                    case .coordinator: coordinator.blockingWrite { jobs.visit() }
                    case .hold:
                        let hold = view.hold()
                        jobs.visit()
                        hold.release()
                    }
                }
            }
            for _ in 0..<count { begun.wait() }
            waitUntil { pool.statistics.waiting == count }
            for _ in 0..<count { mayEnd.signal() }
            try! pool.drained().wait()
            #expect(jobs.entered == count)
            jobs.expectNoExcess()
            #expect(pool.statistics.substitutes == 0)
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
            let jobs = JobsUnderWay(on: pool)
            let (begun, mayGoOn) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
            let ends = (0..<12).map { _ in BusyWait() }
            // Foreign waits: the pool starts a substitute for each.
            for end in ends {
                pool.execute {
                    begun.signal()
                    mayGoOn.wait()
                    end.run()
                }
            }
            for _ in ends { begun.wait() }
            for _ in ends { mayGoOn.signal() }
            pool.execute { jobs.visit() }
            // The pool detects that all of them continue. No other worker has a thread, so none is
            // between its look at the width and its next job.
            waitUntil { pool.statistics.waiting == 0 && pool.statistics.active == 12 }
            #expect(pool.statistics.substitutes == 10)
            let before = jobs.entered
            for _ in 0..<200 { pool.execute { jobs.visit() } }
            waitForMonitor()
            #expect(jobs.entered == before)
            // A worker whose job ends begins no other one, until as many run as the pool is wide.
            for end in ends.dropLast(2) { end.end() }
            waitUntil { pool.statistics.active == 2 }
            #expect(jobs.entered == before)
            #expect(pool.statistics.substitutes == 0)
            for end in ends { end.end() }
            try! pool.drained().wait()
            #expect(jobs.entered == 201)
            jobs.expectNoExcess()
        }
    }

    @Test(arguments: [1, 2, 4])
    func `Law 11: the monitor never takes a computing job for a blocked one`(_ width: Int) async {
        await watched {
            let pool = WorkerPool(width: width)
            let (mayEnd, jobs) = (BusyWait(), JobsUnderWay(on: pool))
            let begun = DispatchSemaphore(value: 0)
            for _ in 0..<width {
                pool.execute {
                    jobs.enter()
                    begun.signal()
                    mayEnd.run()
                    jobs.leave()
                }
            }
            for _ in 0..<width { begun.wait() }
            // A worker may have slept while it started the next worker's thread.
            waitUntil { pool.statistics.waiting == 0 }
            let before = pool.statistics.stalls
            for _ in 0..<20 { pool.execute { jobs.visit() } }
            for _ in 0..<4 { waitForMonitor() }
            #expect(jobs.entered == width)
            #expect(pool.statistics.stalls == before)
            mayEnd.end()
            try! pool.drained().wait()
            jobs.expectNoExcess()
        }
    }

    @Test func `Law 27: a job is an obstacle for drained() of its own pool`() async {
        await watched {
            let pool = WorkerPool(name: "thumbnails", width: 1)
            let isChecked = DispatchSemaphore(value: 0)
            pool.execute {
                let obstacle = pool.drained().map { _ in 1 }.endlessWait ?? ""
                #expect(obstacle.contains("'thumbnails' is left, and the caller is one"))
                isChecked.signal()
            }
            isChecked.wait()
        }
    }
}
