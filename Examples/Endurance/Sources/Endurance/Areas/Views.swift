import ExecutionContexts
import ExecutionContextsObservation

/// Random views of views of contexts: serial views keep the order, limited views their width.
enum Views {
    private struct Plan {
        var context: any ExecutionContext
        var width = Int.max
        var isOrdered = false
    }

    static func round(_ rng: inout SeededRNG) -> Int {
        let (base, isSerial) = Contexts.any(&rng)
        var plan = Plan(context: base, width: isSerial ? 1 : .max, isOrdered: isSerial)
        for _ in 0..<1 + rng.next(below: 3) { plan = over(plan, &rng) }
        let count = 50 + rng.next(below: 800)
        let round = Round("views", width: plan.width, isOrdered: plan.isOrdered)
        for number in 0..<count {
            let (_, run) = round.job(number)
            plan.context.execute(run)
        }
        round.finish()
        return count
    }

    private static func over(_ plan: Plan, _ rng: inout SeededRNG) -> Plan {
        var plan = plan
        switch rng.next(below: 8) {
        case 0, 1, 2:
            plan.context = plan.context.serial()
            (plan.width, plan.isOrdered) = (1, true)
        case 3:
            let width = 1 + rng.next(below: 4)
            plan.context = plan.context.limited(to: width)
            plan.width = min(plan.width, width)
            // A serial base keeps its order. A limited view of one permit starts jobs in order.
            if width == 1 { plan.isOrdered = true }
        case 4: plan.context = plan.context.with(.inlineIfCurrent)
        case 5: plan.context = plan.context.with(.named("endurance"))
        case 6:
            plan.context = plan.context.with(.exclusive(CriticalSection()))
            plan.width = 1
        default: plan.context = plan.context.with(.observed(by: Recorder(capacity: 1_024)))
        }
        return plan
    }
}
