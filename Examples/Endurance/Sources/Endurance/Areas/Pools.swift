import ExecutionContexts

/// Short-lived pools of widths 1 to 3, with priorities, blocked jobs and a shutdown amid the
/// submissions.
enum Pools {
    static func round(_ rng: inout SeededRNG) -> Int {
        let pool = WorkerPool(name: "endurance", width: 1 + rng.next(below: 3), limit: 8)
        let round = Round("pools")
        let count = 50 + rng.next(below: 1_000)
        let pools: [WorkerPool] = [pool, pool.prioritized(.high), pool.prioritized(.low)]
        let end = rng.next(below: 3) == 0 ? rng.next(below: count) : count
        var shutDown: Async<Void>?
        for number in 0..<count {
            let (job, run) = round.job(number)
            let blocks = rng.next(below: 200) == 0
            if number == end { shutDown = pool.shutDown() }
            let target = pools[rng.next(below: 3)]
            target.execute(
                {
                    if blocks { WorkerPool.blocking { GlobalContext().submit {}.waitForEnd() } }
                    run()
                }, refused: { _ in round.cancelled(job) })
        }
        round.finish()
        let notified = round.expect("the end of a shutdown")
        (shutDown ?? pool.shutDown()).onComplete { _ in notified() }
        round.finish()
        return count
    }
}

extension Async {
    /// Blocks the caller until the future completes.
    func waitForEnd() { _ = try? wait(timeout: .seconds(Round.patience)) }
}
