import ExecutionContexts
import ExecutionContextsTesting
import Foundation

/// What a full executor says of itself, and how it ends.
func showInFull(_ report: inout Report) async throws {
    report.begin("In full: a pool of threads with an urgent line")
    let pool = WorkerPool(name: "pool", threadCount: 2)
    report.expect("am I there, asked from outside", pool.isCurrent, toBe: false)
    report.expect("and from its own work", try await pool.run { pool.isCurrent }, toBe: true)
    report.expect("urgent work first, with a turn for the rest", try await orderOfWork(), toBe: "UUUUnUUnn")
    report.expect("breaches that the law kit found", await Laws.check(pool).count, toBe: 0)
    report.expect("and on the urgent line", await Laws.check(pool.urgent).count, toBe: 0)

    // What a view of the pool has accepted runs, also the part whose turn comes after the shutdown.
    let count = LockedResource(0, lockedBy: .section)
    let view = pool.serial("counting")
    for _ in 1...1_000 { view.execute { count.write { $0 += 1 } } }
    pool.shutDown()
    try await view.run {}
    report.expect("of 1,000 pieces before the shutdown, ran", count.read { $0 }, toBe: 1_000)

    let refusal = await refusal(by: pool)
    report.expect("work after the shutdown is refused", refusal?.reason, toBe: .shutDown)
    if let refusal { report.quote("\(refusal)") }
    report.expect("its threads have ended", try await endOfThreads(of: pool), toBe: true)
}

/// What one thread does first when normal and urgent work waits for it.
private func orderOfWork() async throws -> String {
    let pool = WorkerPool(name: "single", threadCount: 1)
    let order = LockedResource("", lockedBy: .section)
    // Its only thread is busy until all the work is there.
    let gate = DispatchSemaphore(value: 0)
    await withCheckedContinuation { isBusy in
        pool.execute {
            isBusy.resume()
            gate.wait()
        }
    }
    for _ in 1...3 { pool.execute { order.write { $0 += "n" } } }
    for _ in 1...6 { pool.urgent.execute { order.write { $0 += "U" } } }
    gate.signal()
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

/// Waits for the threads of a pool that has been shut down, on a context for work that blocks.
private func endOfThreads(of pool: WorkerPool) async throws -> Bool {
    try await BlockingContext().run {
        pool.waitForThreads()
        return true
    }
}
