internal import ExecutionContexts

// Law 9: a closure that the context calls may call the context.
extension Laws {
    /// Checks calls into the context from a job, from the deinit of its captures and from a
    /// cancelled delay's deinit.
    static func callsBack(_ context: some ExecutionContext, _ trial: Trial) {
        let ledger = Ledger()
        let calls = Signal()
        let use: Work = {
            _ = (context.isCurrent, context.name, context.time.now)
            context.schedule(after: .seconds(3600), {}).cancel()
            context.execute(ledger.job { calls.happen() })
        }
        let callers: [(String, Work)] = [
            ("its own work", { context.execute(ledger.job(use)) }),
            (
                "the deinit of a job's capture",
                {
                    let farewell = Farewell(use)
                    context.execute(ledger.job { _ = farewell })
                }
            ),
            (
                "the deinit of a cancelled delay's capture",
                {
                    let farewell = Farewell(use)
                    context.schedule(after: .seconds(3600), { _ = farewell }).cancel()
                }
            ),
        ]
        for (caller, call) in callers {
            guard trial.fromThreads(1, { _ in call() }), trial.wait(for: calls) else {
                return trial.report(
                    9, "stalls when it is called from \(caller)",
                    "Hold no lock while a caller's closure runs or is freed.")
            }
        }
        ledger.verify(trial)
    }
}

/// Calls a closure in its deinit.
private final class Farewell: Sendable {
    private let say: Work
    init(_ say: @escaping Work) { self.say = say }
    deinit { say() }
}
