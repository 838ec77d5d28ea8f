import ExecutionContexts

/// Random views of views of contexts: serial ones keep order, limited ones their width.
enum Views {
    private struct Plan {
        var context: any ExecutionContext
        var width = Int.max
        var isOrdered = false
    }

    static func round(_ dice: inout Dice) -> Int {
        let (base, isSerial) = Contexts.any(&dice)
        var plan = Plan(context: base, width: isSerial ? 1 : .max, isOrdered: isSerial)
        for _ in 0..<1 + dice.roll(3) { plan = over(plan, &dice) }
        let count = 50 + dice.roll(800)
        let round = Round("views", width: plan.width, isOrdered: plan.isOrdered)
        for number in 0..<count {
            let (_, run) = round.job(number)
            plan.context.execute(run)
        }
        round.finish()
        return count
    }

    private static func over(_ plan: Plan, _ dice: inout Dice) -> Plan {
        var plan = plan
        switch dice.roll(8) {
        case 0, 1, 2:
            plan.context = plan.context.serial()
            (plan.width, plan.isOrdered) = (1, true)
        case 3:
            let width = 1 + dice.roll(4)
            plan.context = plan.context.limited(to: width)
            plan.width = min(plan.width, width)
            // Of a serial base the order is kept; else one at a time begins in order, too.
            if width == 1 { plan.isOrdered = true }
        case 4: plan.context = plan.context.inlineIfCurrent()
        case 5: plan.context = plan.context.named("endurance")
        case 6:
            plan.context = plan.context.exclusive(CriticalSection())
            plan.width = 1
        default: plan.context = plan.context.observed(by: Recorder(capacity: 1_024))
        }
        return plan
    }
}
