import ExecutionContexts
import ExecutionContextsTesting
import Foundation

/// Shows what a full executor implements, and how it ends.
func showInFull(_ report: inout Report) async throws {
    report.begin("In full: a pool of threads with an urgent queue")
    let pool = WorkerPool(name: "pool", threadCount: 2)
    report.expect("isCurrent, outside of the pool", pool.isCurrent, toBe: false)
    report.expect(
        "isCurrent, in a job of the pool", try await pool.run { pool.isCurrent }, toBe: true)
    report.expect(
        "urgent jobs first, without starving others", try await orderOfJobs(), toBe: "UUUUnUUnn")
    report.expect("breaches that the law kit found", await Laws.check(pool).count, toBe: 0)
    report.expect("breaches on the urgent queue", await Laws.check(pool.urgent).count, toBe: 0)

    // Every job that a view of the pool has accepted runs, even after the shutdown of the pool.
    let count = LockedResource(0, lockedBy: .section)
    let view = pool.serial(named: "counting")
    for _ in 1...1_000 { view.execute { count.mutate { $0 += 1 } } }
    pool.shutDown()
    try await view.run {}
    report.expect("of 1,000 jobs before the shutdown, ran", count.read { $0 }, toBe: 1_000)

    let refusal = await refusal(by: pool)
    report.expect("a job after the shutdown is refused", refusal?.reason, toBe: .shutDown)
    if let refusal { report.quote("\(refusal)") }
    report.expect("its threads have ended", try await endOfThreads(of: pool), toBe: true)
}

/// The order in which one thread runs queued normal and urgent jobs.
private func orderOfJobs() async throws -> String {
    let pool = WorkerPool(name: "single", threadCount: 1)
    let order = LockedResource("", lockedBy: .section)
    // The only thread of the pool is busy until all jobs are queued.
    let allQueued = DispatchSemaphore(value: 0)
    await withCheckedContinuation { isBusy in
        pool.execute {
            isBusy.resume()
            allQueued.wait()
        }
    }
    for _ in 1...3 { pool.execute { order.mutate { $0 += "n" } } }
    for _ in 1...6 { pool.urgent.execute { order.mutate { $0 += "U" } } }
    allQueued.signal()
    try await pool.run {}
    return order.read { $0 }
}

private func refusal(by pool: WorkerPool) async -> Refusal? {
    do {
        try await pool.run {}
        return nil
    } catch {
        return error as? Refusal
    }
}

/// Waits for the threads of a pool that was shut down, on a context for blocking jobs.
private func endOfThreads(of pool: WorkerPool) async throws -> Bool {
    try await BlockingContext().run {
        pool.waitForThreads()
        return true
    }
}
