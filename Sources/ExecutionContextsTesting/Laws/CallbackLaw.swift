internal import ExecutionContexts

// Law 9: whatever the context calls may call the context.
extension Laws {
    /// Work, the deinit of what it captured and a cancel all use the context that they come from.
    static func callsBack(_ context: some ExecutionContext, _ trial: Trial) {
        let ledger = Ledger()
        let calls = Signal()
        let use: Work = {
            _ = (context.isCurrent, context.name, context.time.now)
            context.schedule(after: .seconds(3600), {}).cancel()
            context.execute(ledger.piece { calls.happen() })
        }
        let callers: [(String, Work)] = [
            ("its own work", { context.execute(ledger.piece(use)) }),
            (
                "the deinit of what a piece of work had captured",
                {
                    let farewell = Farewell(use)
                    context.execute(ledger.piece { _ = farewell })
                }
            ),
            (
                "the deinit of what a cancelled delay had captured",
                {
                    let farewell = Farewell(use)
                    context.schedule(after: .seconds(3600), { _ = farewell }).cancel()
                }
            ),
        ]
        for (caller, call) in callers {
            guard trial.fromThreads(1, { _ in call() }), trial.wait(for: calls) else {
                return trial.report(
                    9, "does not get on when it is called from \(caller)",
                    "Hold no lock while a closure of somebody else's runs or is freed.")
            }
        }
        ledger.settle(trial)
    }
}

/// Says something at its end.
private final class Farewell: Sendable {
    private let say: Work
    init(_ say: @escaping Work) { self.say = say }
    deinit { say() }
}
