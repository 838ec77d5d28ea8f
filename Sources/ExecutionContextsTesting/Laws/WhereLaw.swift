internal import Dispatch
internal import ExecutionContexts
internal import Foundation

// Law 4: no false yes, and no hard check that fails where it must pass.
extension Laws {
    /// Checks that inside its jobs a context answers yes or unknown, for each way of submitting.
    static func knowsItsWork(_ context: some ExecutionContext, _ trial: Trial) {
        let ledger = Ledger()
        let look: Work = {
            checkInside(context, "inside its own work", trial)
            checkActors(context, trial)
            // A nested call through another queue hides the queue's own knowledge of where it is.
            DispatchQueue(label: "another queue").sync {
                checkInside(
                    context, "inside its own work, in a nested sync to another queue", trial)
            }
        }
        context.execute(ledger.job(look))
        context.enqueue(ledger.job(look))
        context.execute(ledger.job(look), refused: { _ in })
        if let context = context as? any BarrierContext { context.executeBarrier(ledger.job(look)) }
        ledger.verify(trial)
    }

    static func checkInside(
        _ context: some ExecutionContext, _ location: String, _ trial: Trial
    ) {
        guard context.isCurrent != false else {
            return trial.report(
                4, "answers no \(location)",
                "Make isCurrent return nil where it does not know."
            )
        }
        // Traps if it fails; there is no softer check.
        context.preconditionIsCurrent("The law kit checks this \(location).")
    }

    /// Checks that a context that backs actors knows its own jobs; otherwise `assumeIsolated` would
    /// trap in correct code.
    private static func checkActors(_ context: some ExecutionContext, _ trial: Trial) {
        guard context is any ActorBackingContext, context.isCurrent == nil,
            !context.checkIsCurrent()
        else {
            return
        }
        trial.report(
            4, "backs actors, but does not know that it is inside its own work",
            "Give it `var isCurrent: Bool?`. A property of type Bool does not meet the requirement."
        )
    }

    /// Checks that a context does not answer yes on a foreign thread.
    static func knowsForeignThreads(_ context: some ExecutionContext, _ trial: Trial) {
        // This runs on a thread of the kit. A context that runs jobs inline rightly answers yes
        // here.
        guard context.isCurrent == true else { return }
        let ledger = Ledger()
        let caller = ObjectIdentifier(Thread.current)
        let runner = Locked<ObjectIdentifier?>(nil)
        context.execute(
            ledger.job {
                let here = ObjectIdentifier(Thread.current)
                runner.withLock { $0 = here }
            })
        let isInline = runner.withLock { $0 } == caller
        ledger.verify(trial)
        guard !isInline else { return }
        trial.report(
            4, "answers yes on a thread that runs none of its work",
            "Make isCurrent return true only where it is certain, and nil where it does not know.")
    }
}
