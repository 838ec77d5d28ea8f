import Dispatch
import ExecutionContexts

/// Closures on every kind of context, at once and later.
enum Contexts {
    private static let serialQueue = SerialQueueContext(label: "endurance")
    private static let barrierQueue = BarrierQueueContext(label: "endurance")

    static func any(_ dice: inout Dice) -> (context: any ExecutionContext, isSerial: Bool) {
        switch dice.roll(7) {
        case 0: (GlobalContext(), false)
        case 1: (PoolContext(), false)
        case 2: (PoolContext(.high), false)
        case 3: (SerialQueueContext(label: "short-lived"), true)
        case 4: (barrierQueue, false)
        case 5: (TrampolineContext(), false)
        default: (GlobalContext(qos: .utility), false)
        }
    }

    static func round(_ dice: inout Dice) -> Int {
        let (context, isSerial) = any(&dice)
        let count = 50 + dice.roll(1_000)
        let round = Round("contexts", width: isSerial ? 1 : .max, isOrdered: isSerial)
        for number in 0..<count {
            let (_, run) = round.job(number)
            if dice.roll(8) == 0 { context.enqueue(run) } else { context.execute(run) }
        }
        round.finish()
        return count
    }

    /// Delays, some of them cancelled: a delay runs, or its cancelling says that it never will.
    static func delays(_ dice: inout Dice) -> Int {
        let (context, _) = any(&dice)
        let count = 20 + dice.roll(200)
        let round = Round("delays")
        for number in 0..<count {
            let (job, run) = round.job(number)
            let delay = context.schedule(after: .microseconds(dice.roll(3_000))) {
                _ = job
                run()
            }
            if dice.roll(3) == 0, delay.cancel() { round.cancelled(job) }
        }
        round.finish()
        return count
    }
}
