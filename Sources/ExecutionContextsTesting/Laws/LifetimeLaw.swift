internal import ExecutionContexts

// Law 10: a closure goes right after it has run.
extension Laws {
    /// The captures of work are freed after the run, by whichever way it came.
    static func releases(_ context: some ExecutionContext, _ trial: Trial) {
        let ledger = Ledger()
        for submit in ways(into: context) { ledger.give(to: submit) }
        ledger.settle(trial)
    }

    private static func ways(
        into context: some ExecutionContext
    ) -> [(_ work: @escaping Work) -> Void] {
        var ways: [(@escaping Work) -> Void] = [
            { context.execute($0) },
            { context.enqueue($0) },
            { context.execute($0, refused: { _ in }) },
            { context.schedule(after: .zero, $0) },
            { work in context.submit { work() } },
        ]
        if let context = context as? any BarrierContext {
            ways.append { context.executeBarrier($0) }
        }
        return ways
    }

    /// On a serial context a closure is gone before the next one starts.
    static func releasesAtOnce(_ context: some SerialContext, _ trial: Trial) {
        let ledger = Ledger()
        for _ in 0..<5 {
            let first = ledger.give { context.execute($0) }
            context.execute(
                ledger.piece {
                    guard first.runs > 0, !first.isReleased else { return }
                    trial.report(
                        10, "still keeps a closure when the next piece of work starts",
                        "Let go of a closure right after running it, before taking the next.")
                })
        }
        ledger.settle(trial)
    }
}
