internal import ExecutionContexts

// Laws 1 and 13 after a shutdown: no accepted job is dropped, and each caller gets an answer.
extension Laws {
    /// Checks that accepted jobs run, although they are queued when the shutdown begins.
    static func ends(
        _ context: some ExecutionContext, _ shutDown: @escaping @Sendable () -> Void, _ trial: Trial
    ) {
        let (ledger, hasEnded) = (Ledger(), Signal())
        guard let hold = trial.hold({ context.execute(ledger.job($0)) }) else { return }
        startThread {
            for _ in 0..<20 { context.enqueue(ledger.job()) }
            shutDown()
            hasEnded.happen()
        }
        // A shutdown that waits for the job does not return before the job may end.
        trial.meanwhile()
        hold.release()
        guard trial.wait(for: hasEnded) else {
            return trial.report(
                1, "did not return from its shutdown",
                "Refuse new work, run accepted work, and return.")
        }
        trial.hasShutDown()
        ledger.verify(trial)
    }

    /// Checks that each caller after the shutdown gets an answer: the job runs, or is refused.
    static func answersAfterTheEnd(_ context: some ExecutionContext, _ trial: Trial) {
        oneAnswer(context, trial)
        guard trial.breaches.isEmpty else { return }
        let end = Signal()
        startTask {
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

    /// Checks that jobs accepted elsewhere - a delay that is due, the next drain of a view - run
    /// after the shutdown.
    static func enqueuesAfterTheEnd(_ context: some ExecutionContext, _ trial: Trial) {
        let ledger = Ledger()
        for _ in 0..<5 { context.enqueue(ledger.job()) }
        if ledger.close(trial).contains(where: { $0.runs != 1 }) {
            trial.report(
                1, "dropped a job submitted by enqueue",
                "Run jobs of enqueue as before: they were accepted already. A pool without threads runs them on other threads."
            )
        }
    }

    /// Checks that a task that prefers the context ends, if necessary on another executor.
    static func tasksAfterTheEnd(_ context: some ExecutionContext, _ trial: Trial) {
        runsJobs(context.taskExecutor, "a task that prefers it", trial)
        if let executor = context as? any TaskExecutor {
            runsJobs(executor, "a task that has it as its executor", trial)
        }
    }

    /// Checks that all jobs of a task run: a dropped job would leave a caller that awaits the task
    /// suspended forever.
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
                "Run every job of enqueue, also after a shutdown: on the global executor, if nowhere else."
            )
        }
    }
}
