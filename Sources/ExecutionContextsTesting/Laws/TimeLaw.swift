internal import ExecutionContexts

// Law 7: delays are never early and fire in order, and `cancel` returns whether it won.
extension Laws {
    /// Checks that no delay is early, that none runs on the timer's thread, and that empty and
    /// negative delays run.
    static func delays(_ context: some ExecutionContext, _ trial: Trial) {
        if context.time !== context.time {
            trial.report(
                7, "returns another time source at each call of time",
                "Create the time source once and keep it.")
        }
        // Set before the others: a time source that does not wait has fired it when they end,
        // however slow the machine is.
        let distant = Ledger()
        var distantDelay: DelayedWork?
        distant.give { distantDelay = context.schedule(after: .seconds(3600), $0) }
        let ledger = Ledger()
        for delay in [Duration.milliseconds(2), .microseconds(300), .zero, .seconds(-1)] {
            let start = context.time.now
            context.schedule(
                after: delay,
                ledger.job {
                    let passed = start.duration(to: context.time.now)
                    if passed < delay {
                        trial.report(
                            7, "ran work \(delay - passed) before its delay was over",
                            "Call fire when now has reached the deadline, not before.")
                    }
                    if SystemTime.isFiring {
                        trial.report(
                            7,
                            "runs delayed work on the timer's thread, where it blocks all other delays",
                            "Make enqueue send work to another thread if execute runs it on the caller."
                        )
                    }
                })
        }
        context.schedule(after: .seconds(Int64.min), ledger.job())
        context.schedule(after: .zero, ledger.job())
        ledger.verify(trial)
        trial.meanwhile()
        if distantDelay?.cancel() == false {
            trial.report(
                7, "fired a delay of an hour at once",
                "Call fire when now has reached the deadline, not before.")
        }
    }

    /// Checks that delays on a serial context fire by deadline, and by submission where deadlines
    /// are equal.
    static func delaysInOrder(_ context: some SerialContext, _ trial: Trial) {
        let offsets = [3, 1, 2, 1, 0, 3, 0, 2, 1, 1, 0, 0]
        let expected = offsets.indices.sorted { (offsets[$0], $0) < (offsets[$1], $1) }
        var lead = Duration.milliseconds(3)
        while lead < .seconds(1) {
            let order = Locked<[Int]>([])
            let ledger = Ledger()
            let first = context.time.now.advanced(by: lead)
            for (index, offset) in offsets.enumerated() {
                context.schedule(
                    at: first.advanced(by: .microseconds(offset * 300)),
                    ledger.job { order.withLock { $0.append(index) } })
            }
            // The order is defined only if all delays were set before the first was due.
            let isInTime = context.time.now < first
            guard ledger.verify(trial) else { return }
            if isInTime {
                let order = order.withLock { $0 }
                if order != expected {
                    trial.report(
                        7, "ran delays in the order \(order), where \(expected) was due",
                        "Call fire in the order of (deadline, addition), and keep that order.")
                }
                return
            }
            lead *= 4
        }
    }

    /// Checks that a delay without an end never fires, that a huge one saturates, and that both can
    /// be cancelled.
    static func endlessDelays(_ context: some ExecutionContext, _ trial: Trial) {
        expectCancellable("a delay without an end", trial) { context.schedule(at: .never, $0) }
        expectCancellable("a delay of Int64.max seconds", trial) {
            context.schedule(after: .seconds(Int64.max), $0)
        }
    }

    /// Checks that a cancelled delay never runs, is freed at once and can be cancelled only once.
    static func cancels(_ context: some ExecutionContext, _ trial: Trial) {
        expectCancellable("a delay of an hour", trial) {
            context.schedule(after: .seconds(3600), $0)
        }
        let ledger = Ledger()
        var delay: DelayedWork?
        ledger.give { delay = context.schedule(after: .microseconds(100), $0) }
        guard ledger.verify(trial) else { return }
        if delay?.cancel() != false {
            trial.report(
                7, "allowed cancelling a delay that had run",
                "Run the work of a delay by calling fire.")
        }
    }

    private static func expectCancellable(
        _ what: String, _ trial: Trial, _ schedule: (@escaping Work) -> DelayedWork
    ) {
        weak var kept: DelayedWork?
        let ledger = Ledger()
        let fate = schedulesAndCancels(what, ledger, &kept, trial, schedule)
        if fate.runs > 0 {
            trial.report(7, "ran \(what) at once", "Call fire when now has reached the deadline.")
        } else if !fate.isReleased {
            trial.report(
                7, "keeps the captures of \(what) that was cancelled",
                "Keep only the delay itself.")
        } else if kept != nil {
            trial.report(
                7, "keeps \(what) that was cancelled",
                "Make the time source release a delay in remove.")
        }
    }

    /// A separate function, so that no variable keeps the delay alive after it.
    private static func schedulesAndCancels(
        _ what: String, _ ledger: Ledger, _ kept: inout DelayedWork?, _ trial: Trial,
        _ schedule: (@escaping Work) -> DelayedWork
    ) -> Ledger.Fate {
        var delay: DelayedWork!
        let fate = ledger.give { delay = schedule($0) }
        kept = delay
        let answers = [delay.cancel(), delay.cancel()]
        if answers != [true, false], fate.runs == 0 {
            trial.report(
                7, "answered \(answers) when \(what) was cancelled twice",
                "Call fire once, when it is due.")
        }
        return fate
    }

    /// Checks that exactly one of a delay and its cancellation wins.
    static func cancelsOrRuns(_ context: some ExecutionContext, _ trial: Trial) {
        let ledger = Ledger()
        var outcomes: [(fate: Ledger.Fate, wasCancelled: Bool)] = []
        for _ in 0..<4 {
            var delays: [DelayedWork] = []
            let fates = (0..<5).map { _ in
                ledger.give { delays.append(context.schedule(after: .microseconds(50), $0)) }
            }
            for (fate, delay) in zip(fates, delays) { outcomes.append((fate, delay.cancel())) }
        }
        _ = ledger.close(trial)
        for (fate, wasCancelled) in outcomes where fate.runs != (wasCancelled ? 0 : 1) {
            trial.report(
                7, "ran a delay \(fate.runs) times whose cancel returned \(wasCancelled)",
                "Call fire once on a due delay, and never run its work in another way.")
        }
    }
}
