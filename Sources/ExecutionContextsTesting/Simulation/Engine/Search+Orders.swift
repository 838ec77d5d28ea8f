extension Search {
    /// Runs each order of the program's operations that can make a difference.
    func tryOrders(_ first: Outcome) -> SimulationReport {
        let chooser = OrderChooser()
        var (number, isOver) = (0, false)
        var failed: Outcome?
        var inversion: (Outcome, Int)?
        runEach(chooser) { outcome in
            number += 1
            self.hosts.didTry(outcome.decisions)
            if outcome.finding != nil { failed = outcome }
            if inversion == nil, outcome.inversion != nil { inversion = (outcome, number) }
            isOver = !chooser.advance()
            return failed == nil && !isOver && number < self.settings.schedules
                && self.mayGoOn
        }
        let orders = chooser.orderCount
        hosts.pairs = chooser.pairs
        if let failed {
            return report(number, orders: orders, failure: explain(failed, number))
        }
        // Repeats the usual schedule: state that outlives schedules may have changed the program,
        // and all orders of another program would prove nothing about this one.
        let last = run(Chooser(), tracing: true)
        if chooser.isLost || last.finding != nil || last.decisions != first.decisions {
            return report(number, orders: orders, failure: nondeterminism(first, last, number))
        }
        return report(
            number, orders: orders, isComplete: isOver && !chooser.isCut,
            failure: inversion.flatMap { explainInversion($0.0, $0.1) })
    }
}

extension SimulationScheduler {
    /// Chooses the thread that runs next, in the search of all orders.
    func chooseOrder(_ orders: LoggingChooser, _ candidates: UInt64, _ usual: Int) -> Int {
        var (blocked, rest): (UInt64, UInt64) = (0, candidates)
        var refused: [(thread: Int, lock: Word)] = []
        // Where all wait for locks, they continue into the locks' queues: until time passes, or
        // forever.
        var othersQueue = true
        while rest != 0 {
            let id = rest.trailingZeroBitCount
            rest &= rest - 1
            if let lock = threads[id].entering, isTaken(lock, for: threads[id]) {
                blocked |= 1 << UInt64(id)
                refused.append((id, lock.word))
            } else if !threads[id].isQueued {
                othersQueue = false
            }
        }
        for (thread, lock) in refused { log?.refuse(thread, lock) }
        refusePermits()
        let target = orders.choose(
            candidates, blocked: othersQueue ? 0 : blocked, isChecked: !conditions.isEmpty,
            usual: usual)
        // Any thread may cancel a task, or feed a stream that a task awaits.
        if log?.hasTasks == true { log?.add(.writes, .tasks) }
        return target
    }
}
