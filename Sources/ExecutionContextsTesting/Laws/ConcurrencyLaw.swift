internal import ExecutionContexts

// Law 13: tasks and actors run on the context, and cancellation reaches a queued job.
extension Laws {
    /// Checks that a task that prefers the context's executor runs there until it ends.
    static func runsTasks(_ context: some ExecutionContext, _ trial: Trial) {
        let end = Signal()
        Task(executorPreference: context.taskExecutor) {
            for _ in 0..<3 {
                checkInside(context, "inside a task that prefers it", trial)
                await Task.yield()
            }
            end.happen()
        }
        if !trial.wait(for: end) {
            trial.report(
                13, "did not finish a task that prefers it",
                "Run each closure passed to execute.")
        }
    }

    /// Checks that a `run` by a task that is already cancelled does not start.
    static func cancelsBeforeTheStart(_ context: some ExecutionContext, _ trial: Trial) {
        let wait = CancelledWait()
        startTask {
            // Unsafe only if the handle escapes; here it is used at once.
            unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
            await wait.run(on: context)
        }
        wait.expectCancelled(trial)
    }

    /// Checks that a queued `run` or `submit` is cancelled at once and never runs.
    static func cancelsWaiting(_ context: some SerialContext, _ trial: Trial) {
        let ledger = Ledger()
        guard let hold = trial.hold({ context.execute(ledger.job($0)) }) else { return }
        defer {
            hold.release()
            ledger.verify(trial)
        }
        let waiting = CancelledWait()
        let task = startTask { await waiting.run(on: context) }
        task.cancel()
        waiting.expectCancelled(trial)
        let submitted = CancelledWait()
        let async = submitted.submit(to: context)
        async.cancel()
        submitted.expectCancelled(trial)
    }

    /// Checks that an actor can live on a serial context, and that jobs of the context are isolated
    /// to it.
    static func backsAnActor(_ context: some ActorBackingContext, _ trial: Trial) {
        let guest = Guest(on: context)
        let ledger = Ledger()
        let end = Signal()
        for _ in 0..<5 {
            startTask {
                await guest.visit()
                end.happen()
            }
        }
        guard trial.wait(for: end, count: 5) else {
            return trial.report(
                13, "did not run the jobs of an actor", "Run each closure passed to execute.")
        }
        let expected = Locked(5)
        context.execute(
            ledger.job {
                // A context that does not know where it is cannot vouch for isolation either. For
                // one that does, `assumeIsolated` is a real check: it traps if it fails falsely.
                guard context.isCurrent ?? context.checkIsCurrent() else { return }
                expected.withLock { $0 += 1 }
                guest.assumeIsolated { $0.visit() }
            })
        guard ledger.verify(trial) else { return }
        let visits = Locked(0)
        let isExclusive = Locked(false)
        startTask {
            let excludes = await guest.excludesJobs(end)
            isExclusive.withLock { $0 = excludes }
            end.happen()
        }
        // Both jobs have ended.
        guard trial.wait(for: end, count: 2) else {
            return trial.report(
                13, "did not run a job of an actor that another job submitted",
                "Run each closure passed to execute.")
        }
        if !isExclusive.withLock({ $0 }) {
            trial.report(
                13, "ran a job of an actor in the middle of another one",
                "Run no job inside the job that submits it.")
        }
        expected.withLock { $0 += 1 }
        startTask {
            let count = await guest.visits
            visits.withLock { $0 = count }
            end.happen()
        }
        if !trial.wait(for: end) || visits.withLock({ $0 }) != expected.withLock({ $0 }) {
            trial.report(
                13, "dropped jobs of an actor that lives on it",
                "Run each closure passed to execute, in order.")
        }
    }
}

/// A call that is cancelled before its body starts.
private final class CancelledWait: Sendable {
    private let ledger = Ledger()
    private let end = Signal()
    private let wasCancelled = Locked(false)

    func run(on context: some ExecutionContext) async {
        let work = ledger.job()
        do {
            try await context.run { work() }
        } catch {
            note(error)
        }
        end.happen()
    }

    func submit(to context: some ExecutionContext) -> Async<Void> {
        let work = ledger.job()
        return context.submit { work() }.onComplete { [self] outcome in
            if case .failure(let error) = outcome { note(error) }
            end.happen()
        }
    }

    private func note(_ error: any Error) {
        let isCancellation = error is CancellationError
        wasCancelled.withLock { $0 = isCancellation }
    }

    func expectCancelled(_ trial: Trial) {
        guard trial.wait(for: end), wasCancelled.withLock({ $0 }) else {
            return trial.report(
                13, "did not throw CancellationError to a caller whose work had not started",
                "Run each closure once; it decides whether anything is left to do.")
        }
        if ledger.close(trial).contains(where: { $0.runs > 0 }) {
            trial.report(
                13, "ran work that had been cancelled", "Run only closures passed to execute.")
        }
    }
}

/// An actor that lives on a context.
private actor Guest {
    private let executor: any SerialExecutor
    private(set) var visits = 0

    nonisolated var unownedExecutor: UnownedSerialExecutor {
        unsafe executor.asUnownedSerialExecutor()
    }

    init(on executor: any SerialExecutor) { self.executor = executor }

    func visit() { visits += 1 }

    /// Whether a job of the actor that this one submits waits for the end of this one; `end` comes
    /// when that job has run.
    func excludesJobs(_ end: Signal) -> Bool {
        let before = visits
        startTask {
            await self.visit()
            end.happen()
        }
        return visits == before
    }
}
