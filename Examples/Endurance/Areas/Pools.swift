import ExecutionContexts

/// Pools that come and go, of every width, with blocked jobs, priorities and a shutdown amid
/// submissions.
enum Pools {
    static func round(_ dice: inout Dice) -> Int {
        let pool = WorkerPool(name: "endurance", width: 1 + dice.roll(3), limit: 8)
        let round = Round("pools")
        let count = 50 + dice.roll(1_000)
        let pools: [WorkerPool] = [pool, pool.prioritized(.high), pool.prioritized(.low)]
        let end = dice.roll(3) == 0 ? dice.roll(count) : count
        var shutDown: Async<Void>?
        for number in 0..<count {
            let (job, run) = round.job(number)
            let blocks = dice.roll(200) == 0
            if number == end { shutDown = pool.shutDown() }
            let place = pools[dice.roll(3)]
            place.execute(
                {
                    if blocks { WorkerPool.blocking { GlobalContext().submit {}.waitForEnd() } }
                    run()
                }, refused: { _ in round.cancelled(job) })
        }
        round.finish()
        let told = round.expect("the end of a shutdown")
        (shutDown ?? pool.shutDown()).onComplete { _ in told() }
        round.finish()
        return count
    }
}

extension Async {
    /// Blocks the caller until the end.
    func waitForEnd() { _ = try? wait(timeout: .seconds(Round.patience)) }
}
