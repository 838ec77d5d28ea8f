internal import ExecutionContexts

// Laws 1 and 13 of a context that has been shut down: nothing that was accepted is lost, and nobody is left waiting.
extension Laws {
    /// What was accepted before the end runs, though it waits when the end comes.
    static func ends(
        _ context: some ExecutionContext, _ shutDown: @escaping @Sendable () -> Void, _ trial: Trial
    ) {
        let (ledger, hasEnded) = (Ledger(), Signal())
        guard let hold = trial.hold({ context.execute(ledger.piece($0)) }) else { return }
        startThread {
            for _ in 0..<20 { context.enqueue(ledger.piece()) }
            shutDown()
            hasEnded.happen()
        }
        // An end that waits for the work does not come before it may go on.
        trial.meanwhile()
        hold.release()
        guard trial.wait(for: hasEnded) else {
            return trial.report(
                1, "did not come back from its shutdown",
                "Refuse what is new, run what has been accepted, and return.")
        }
        trial.hasShutDown()
        ledger.settle(trial)
    }

    /// Whoever asks after the end is answered: the work runs, or is refused.
    static func answersAfterTheEnd(_ context: some ExecutionContext, _ trial: Trial) {
        oneAnswer(context, trial)
        guard trial.breaches.isEmpty else { return }
        let end = Signal()
        Task.detached {
            _ = try? await context.run {}
            end.happen()
        }
        context.submit {}.onComplete(on: .immediate) { _ in end.happen() }
        if !trial.wait(for: end, count: 2) {
            trial.report(
                1, "left a caller of run or submit waiting",
                "In execute(_:refused:) run the work, or call refused with the reason.")
        }
    }

    /// What has been accepted elsewhere - a delay that is due, the next turn of a view - runs after the end.
    static func turnsAfterTheEnd(_ context: some ExecutionContext, _ trial: Trial) {
        let ledger = Ledger()
        for _ in 0..<5 { context.enqueue(ledger.piece()) }
        if ledger.close(trial).contains(where: { $0.runs != 1 }) {
            trial.report(
                1, "lost a turn that came by enqueue",
                "Run what enqueue brings as before: it was accepted already. A pool without threads lends it others."
            )
        }
    }

    /// A task that prefers the context comes to its end: somewhere else, if need be.
    static func tasksAfterTheEnd(_ context: some ExecutionContext, _ trial: Trial) {
        runsJobs(context.taskExecutor, "a task that prefers it", trial)
        if let executor = context as? any TaskExecutor {
            runsJobs(executor, "a task that has it as its executor", trial)
        }
    }

    /// The jobs of a task run, all of them: one that is dropped leaves whoever awaits the task waiting for ever.
    static func runsJobs(_ executor: some TaskExecutor, _ what: String, _ trial: Trial) {
        let end = Signal()
        Task(executorPreference: executor) {
            for _ in 0..<3 { await Task.yield() }
            async let child = 1
            _ = await child
            end.happen()
        }
        if !trial.wait(for: end) {
            trial.report(
                13, "did not finish \(what)",
                "Run every job that enqueue brings, also after a shutdown: on the global executor, if nowhere else."
            )
        }
    }
}
