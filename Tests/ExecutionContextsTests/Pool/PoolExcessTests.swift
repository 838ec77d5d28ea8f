import Dispatch
import TestSupport
import Testing

@testable import ExecutionContexts

/// How far a pool exceeds its width now, beside foreign waits and after them.
@Suite(.patient)
struct PoolExcessTests {
    @Test(arguments: [1, 2], [1, 4, 8, 16])
    func `Law 11: beside jobs in foreign waits no more jobs begin than the pool is wide`(
        _ width: Int, _ waiters: Int
    ) async {
        await watched {
            let pool = WorkerPool(width: width)
            let jobs = JobsUnderWay(on: pool)
            let (gate, mayEnd) = (DispatchSemaphore(value: 0), BusyWait())
            for _ in 0..<waiters {
                pool.execute {
                    jobs.enter()
                    gate.wait()
                    jobs.leave()
                }
            }
            // Behind the others, so that each foreign wait has begun before them.
            for _ in 0..<40 {
                pool.prioritized(.low).execute {
                    jobs.enter()
                    mayEnd.run()
                    jobs.leave()
                }
            }
            waitUntil { jobs.entered >= waiters + width }
            jobs.compare()
            waitForMonitor()
            jobs.compare()
            jobs.expectNoExcess()
            for _ in 0..<waiters { gate.signal() }
            mayEnd.end()
            try! pool.drained().wait()  // Nothing cancels it.
        }
    }

    @Test func `Law 11: the substitutes are those of now, and the stalls those of ever`() async {
        await watched {
            let pool = WorkerPool(width: 2)
            for round in 1...3 {
                let (gate, mayEnd) = (DispatchSemaphore(value: 0), BusyWait())
                let hasBegun = DispatchSemaphore(value: 0)
                for _ in 0..<6 {
                    pool.execute {
                        hasBegun.signal()
                        gate.wait()
                        mayEnd.run()
                    }
                }
                // While jobs are queued, the monitor looks for foreign waits.
                for _ in 0..<20 { pool.prioritized(.low).execute { mayEnd.run() } }
                for _ in 0..<6 { hasBegun.wait() }
                waitUntil { pool.statistics.substitutes >= 6 }
                for _ in 0..<6 { gate.signal() }
                // All six run, and two or more of the others beside them.
                waitUntil { pool.statistics.waiting == 0 }
                let statistics = pool.statistics
                #expect(statistics.substitutes == statistics.active - 2)
                mayEnd.end()
                try! pool.drained().wait()  // Nothing cancels it.
                #expect(pool.statistics.substitutes == 0)
                #expect(pool.statistics.stalls >= 6 * round)
            }
        }
    }

    @Test(arguments: seeds(debug: 50, release: 1_000))
    func `Law 11: whatever workers do, only those without a permit run beyond the width`(
        _ seed: UInt64
    ) {
        RandomWorkers(seed: seed).run()
    }
}

/// Returns when the monitor, which checks all pools, has looked a few times: it has found the
/// blocked job of a pool made here.
func waitForMonitor() {
    let (pool, mayEnd) = (WorkerPool(width: 1), DispatchSemaphore(value: 0))
    pool.execute { mayEnd.wait() }
    pool.execute { mayEnd.signal() }
    try! pool.drained().wait()  // Nothing cancels it.
    #expect(pool.statistics.stalls > 0)
}

/// Workers that begin, stall, wait, continue and end at random, and what the accounting says of
/// them.
private final class RandomWorkers {
    private enum State { case idle, runs, stalled, waits, returning }

    private let width: Int
    private let core: PoolCore
    private let workers: [PoolWorker]
    private var states: [State]
    private var rng: SeededRNG

    init(seed: UInt64) {
        rng = SeededRNG(seed: seed)
        width = rng.next(below: 4) + 1
        core = PoolCore(name: "random", width: width, limit: 12, qos: 0)
        workers = (1...12).map { [core] in PoolWorker(of: core, number: $0) }
        states = Array(repeating: .idle, count: workers.count)
    }

    func run() {
        core.accounting.withLock { accounting in
            accounting.idle = workers
            for _ in 0..<200 {
                step(rng.next(below: workers.count), &accounting)
                core.publish(&accounting)
                // Free permits go to the workers that wait for one.
                for (number, worker) in workers.enumerated()
                where states[number] == .returning && !worker.record.isReturning {
                    states[number] = .runs
                }
                check(accounting)
            }
        }
    }

    private func count(_ state: State) -> Int { states.count { $0 == state } }

    private func check(_ accounting: borrowing WorkerAccounting) {
        let (running, stalled) = (count(.runs), count(.stalled))
        #expect(accounting.running == running)
        #expect(accounting.active == workers.count - count(.idle))
        #expect(accounting.substitutes == stalled + max(running - width, 0))
        #expect(accounting.vacancies == width - running - count(.returning))
    }

    private func step(_ number: Int, _ accounting: inout WorkerAccounting) {
        let worker = workers[number]
        switch (states[number], rng.next(below: 4)) {
        case (.idle, _):
            let running = count(.runs)
            guard accounting.takeBack(worker) else { return }
            #expect(running < width)
            states[number] = .runs
        case (.runs, 0), (.stalled, 0):
            accounting.moveToIdleSet(worker)
            states[number] = .idle
        case (.runs, 1):
            accounting.markStalled(worker)
            states[number] = .stalled
        case (.runs, _), (.stalled, 1):
            accounting.beginWait(worker)
            states[number] = .waits
        case (.stalled, _):
            accounting.markRunning(worker)
            states[number] = .runs
        case (.waits, let way):
            worker.record.waits -= 1
            if way == 0 && !accounting.hasFreePermit {
                accounting.appendReturning(worker)
                states[number] = .returning
            } else {
                accounting.markRunning(worker)
                states[number] = .runs
            }
        case (.returning, _): break
        }
    }
}
