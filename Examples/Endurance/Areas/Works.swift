import ExecutionContexts
import ExecutionContextsWork

/// Shared works with subscribers that come, change their minds and leave; and queues, limiters and
/// calls that wait.
enum Works {
    static func round(_ dice: inout Dice) -> Int {
        let graph = WorkGraph(on: GlobalContext().serial("endurance"))
        let loads = SingleFlight<Int, Int>("load", in: graph) { key, flight in
            PoolContext().execute {
                for step in 1...5 { flight.report(WorkProgress(completed: Int64(step))) }
                flight.succeed(key * 2)
            }
        }
        let sizes = SingleFlight<Int, Int>("size", in: graph) { key, flight in
            flight.process(loads[key], on: .global) { value, _ in value + 1 }
        }
        let round = Round("works")
        let count = 50 + dice.roll(300)
        for _ in 0..<count {
            let key = dice.roll(10)
            let told = round.expect("the end of a work")
            let (latest, priority) = (Lock<Int64>(0), WorkPriority(rawValue: dice.roll(5))!)
            let subscription = sizes[key].subscribe(priority: priority, on: .global) { event in
                switch event {
                case .progress(let progress):
                    let before = latest.withLock { last in
                        defer { last = progress.completed }
                        return last
                    }
                    if before > progress.completed {
                        Faults.shared.add(.reordered, "works: progress \(progress.completed) after \(before)")
                    }
                case .partial: break
                case .finished(let outcome):
                    latest.withLock { $0 = .max }
                    round.check((try? outcome.get()) == key * 2 + 1, "\(outcome) for \(key)")
                    told()
                }
            }
            switch dice.roll(4) {
            case 0: if subscription.cancel() { told() }
            case 1: subscription.priority = WorkPriority(rawValue: dice.roll(5))!
            default: break
            }
        }
        round.finish()
        graph.context.submit {}.waitForEnd()
        return count * 4
    }

    static func queues(_ dice: inout Dice) -> Int {
        let limit = 1 + dice.roll(4)
        let queue = PrioritizedQueue(on: .pool, limit: limit)
        let round = Round("queues", width: limit)
        let count = 50 + dice.roll(500)
        for number in 0..<count {
            let (job, run) = round.job(number)
            let work = queue.submit(priority: WorkPriority(rawValue: dice.roll(5))!) {
                _ = job
                run()
            }
            switch dice.roll(5) {
            case 0: if work.cancel() { round.cancelled(job) }
            case 1: work.priority = WorkPriority(rawValue: dice.roll(5))!
            case 2 where dice.roll(20) == 0: queue.suspend()
            case 3: queue.resume()
            default: break
            }
        }
        queue.resume()
        let limiter = RateLimiter(on: GlobalContext().serial(), rate: 1_000_000, per: .seconds(1), burst: 100)
        for _ in 0..<20 {
            let told = round.expect("the end of what waits for a rate")
            let async = limiter.submit {}
            async.onComplete { _ in told() }
            if dice.roll(4) == 0 { async.cancel() }
        }
        round.finish()
        return count + 20
    }
}
