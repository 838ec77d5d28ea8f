internal import ExecutionContexts

// Law 10: a context releases a closure right after running it.
extension Laws {
    /// Checks that captures are freed after the run, for each way of submitting.
    static func releases(_ context: some ExecutionContext, _ trial: Trial) {
        let ledger = Ledger()
        for submit in ways(into: context) { ledger.give(to: submit) }
        ledger.verify(trial)
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

    /// Checks that a serial context releases a closure before the next one starts.
    static func releasesAtOnce(_ context: some SerialContext, _ trial: Trial) {
        let ledger = Ledger()
        for _ in 0..<5 {
            let first = ledger.give { context.execute($0) }
            context.execute(
                ledger.job {
                    guard first.runs > 0, !first.isReleased else { return }
                    trial.report(
                        10, "still keeps a closure when the next job starts",
                        "Release a closure right after running it, before taking the next.")
                })
        }
        ledger.verify(trial)
    }
}
