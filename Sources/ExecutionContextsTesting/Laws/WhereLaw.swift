internal import Dispatch
internal import ExecutionContexts
internal import Foundation

// Law 4: never a false yes, and no hard check that fails where it should pass.
extension Laws {
    /// Inside its work a context says yes or that it does not know, however the work came there.
    static func knowsItsWork(_ context: some ExecutionContext, _ trial: Trial) {
        let ledger = Ledger()
        let look: Work = {
            checkInside(context, "inside its own work", trial)
            checkActors(context, trial)
            // A nested call through another queue hides what a queue knows of itself.
            DispatchQueue(label: "another queue").sync {
                checkInside(context, "inside its own work, in a nested sync to another queue", trial)
            }
        }
        context.execute(ledger.piece(look))
        context.enqueue(ledger.piece(look))
        context.execute(ledger.piece(look), refused: { _ in })
        if let context = context as? any BarrierContext { context.executeBarrier(ledger.piece(look)) }
        ledger.settle(trial)
    }

    static func checkInside(
        _ context: some ExecutionContext, _ place: String, _ trial: Trial
    ) {
        guard context.isCurrent != false else {
            return trial.report(
                4, "says \(place) that it is elsewhere", "Let isCurrent return nil where it does not know.")
        }
        // Stops the program if it fails; there is no softer way to ask.
        context.preconditionIsCurrent("The law kit asks this \(place).")
    }

    /// A context that backs actors knows its own jobs, or `assumeIsolated` would trap in correct code.
    private static func checkActors(_ context: some ExecutionContext, _ trial: Trial) {
        guard context is any ActorBackingContext, context.isCurrent == nil, !context.checkIsCurrent() else {
            return
        }
        trial.report(
            4, "backs actors, and does not know that it is inside its own work",
            "Give it `var isCurrent: Bool?`. A property of type Bool does not meet the requirement.")
    }

    /// On a thread that has nothing to do with it a context does not say yes.
    static func knowsStrangers(_ context: some ExecutionContext, _ trial: Trial) {
        // This runs on a thread of the kit. A context that runs work right here is here, of course.
        guard context.isCurrent == true else { return }
        let ledger = Ledger()
        let caller = ObjectIdentifier(Thread.current)
        let place = Locked<ObjectIdentifier?>(nil)
        context.execute(
            ledger.piece {
                let here = ObjectIdentifier(Thread.current)
                place.withLock { $0 = here }
            })
        let isInline = place.withLock { $0 } == caller
        ledger.settle(trial)
        guard !isInline else { return }
        trial.report(
            4, "says on a thread that runs none of its work that it is there",
            "Let isCurrent return true only where it is certain, and nil where it does not know.")
    }
}
