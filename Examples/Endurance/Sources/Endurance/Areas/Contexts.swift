import Dispatch
import ExecutionContexts

/// Immediate and delayed jobs on every kind of context.
enum Contexts {
    private static let serialQueue = SerialQueueContext(name: "endurance")
    private static let barrierQueue = BarrierQueueContext(name: "endurance")

    static func any(_ rng: inout SeededRNG) -> (context: any ExecutionContext, isSerial: Bool) {
        switch rng.next(below: 7) {
        case 0: (GlobalContext(), false)
        case 1: (PoolContext(), false)
        case 2: (PoolContext(.high), false)
        case 3: (SerialQueueContext(name: "short-lived"), true)
        case 4: (barrierQueue, false)
        case 5: (TrampolineContext(), false)
        default: (GlobalContext(qos: .utility), false)
        }
    }

    static func round(_ rng: inout SeededRNG) -> Int {
        let (context, isSerial) = any(&rng)
        let count = 50 + rng.next(below: 1_000)
        let round = Round("contexts", width: isSerial ? 1 : .max, isOrdered: isSerial)
        for number in 0..<count {
            let (_, run) = round.job(number)
            if rng.next(below: 8) == 0 { context.enqueue(run) } else { context.execute(run) }
        }
        round.finish()
        return count
    }

    /// Schedules delays and cancels some: a delay runs, or `cancel` reports that it never will.
    static func delays(_ rng: inout SeededRNG) -> Int {
        let (context, _) = any(&rng)
        let count = 20 + rng.next(below: 200)
        let round = Round("delays")
        for number in 0..<count {
            let (job, run) = round.job(number)
            let delay = context.schedule(after: .microseconds(rng.next(below: 3_000))) {
                _ = job
                run()
            }
            if rng.next(below: 3) == 0, delay.cancel() { round.cancelled(job) }
        }
        round.finish()
        return count
    }
}
