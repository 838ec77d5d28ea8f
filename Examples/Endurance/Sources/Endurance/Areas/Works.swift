import ExecutionContexts
import ExecutionContextsWork

/// Shared works with subscribers that arrive, change their priority and leave; prioritized queues;
/// and rate limits.
enum Works {
    static func round(_ rng: inout SeededRNG) -> Int {
        let graph = WorkGraph(on: GlobalContext().serial(named: "endurance"))
        let loads = SingleFlight<Int, Int>(name: "load", in: graph) { key, flight in
            PoolContext().execute {
                for step in 1...5 { flight.report(WorkProgress(completed: Int64(step))) }
                flight.succeed(key * 2)
            }
        }
        let sizes = SingleFlight<Int, Int>(name: "size", in: graph) { key, flight in
            flight.process(loads[key], on: .global) { value, _ in value + 1 }
        }
        let round = Round("works")
        let count = 50 + rng.next(below: 300)
        for _ in 0..<count {
            let key = rng.next(below: 10)
            let notified = round.expect("the end of a work")
            let (latest, priority) = (Lock<Int64>(0), WorkPriority(rawValue: rng.next(below: 5))!)
            let subscription = sizes[key].subscribe(priority: priority, on: .global) { event in
                switch event {
                case .progress(let progress):
                    let before = latest.withLock { last in
                        defer { last = progress.completed }
                        return last
                    }
                    if before > progress.completed {
                        Faults.shared.add(
                            .reordered, "works: progress \(progress.completed) after \(before)")
                    }
                case .partial: break
                case .finished(let outcome):
                    latest.withLock { $0 = .max }
                    round.check((try? outcome.get()) == key * 2 + 1, "\(outcome) for \(key)")
                    notified()
                }
            }
            switch rng.next(below: 4) {
            case 0: if subscription.cancel() { notified() }
            case 1: subscription.priority = WorkPriority(rawValue: rng.next(below: 5))!
            default: break
            }
        }
        round.finish()
        graph.context.submit {}.waitForEnd()
        return count * 4
    }

    static func queues(_ rng: inout SeededRNG) -> Int {
        let limit = 1 + rng.next(below: 4)
        let queue = PrioritizedQueue(on: .pool, limit: limit)
        let round = Round("queues", width: limit)
        let count = 50 + rng.next(below: 500)
        for number in 0..<count {
            let (job, run) = round.job(number)
            let work = queue.submit(priority: WorkPriority(rawValue: rng.next(below: 5))!) {
                _ = job
                run()
            }
            switch rng.next(below: 5) {
            case 0: if work.cancel() { round.cancelled(job) }
            case 1: work.priority = WorkPriority(rawValue: rng.next(below: 5))!
            case 2 where rng.next(below: 20) == 0: queue.suspend()
            case 3: queue.resume()
            default: break
            }
        }
        queue.resume()
        let limiter = RateLimiter(
            on: GlobalContext().serial(), rate: 1_000_000, per: .seconds(1), burst: 100)
        for _ in 0..<20 {
            let notified = round.expect("the end of a rate-limited job")
            let async = limiter.submit {}
            async.onComplete { _ in notified() }
            if rng.next(below: 4) == 0 { async.cancel() }
        }
        round.finish()
        return count + 20
    }
}
