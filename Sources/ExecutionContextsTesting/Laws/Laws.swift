public import ExecutionContexts

/// Checks a context, one of this library's or a custom one, against the laws that contexts keep.
///
/// It depends on no test framework: it returns the breaches that it found.
///
/// ```swift
/// let breaches = await Laws.check(MyContext())
/// #expect(breaches.isEmpty, "\(breaches)")
/// ```
///
/// The kit checks what the type of the context promises: a `SerialContext` is also checked for
/// order, a `BarrierContext` for barriers, and so on. Some hard checks can only pass or trap. A
/// context whose `checkIsCurrent` fails falsely therefore ends the test with its own message.
public enum Laws {
    /// The laws that the kit can check: once, order, barrier, where am I, time, no calls under a
    /// lock, lifetimes, tasks and actors.
    public static let all: Set<Int> = [1, 2, 3, 4, 7, 9, 10, 13]

    /// Checks `context` and returns the laws that it broke; the result is empty if it keeps them
    /// all.
    ///
    /// After a breach of law 1, 2, 9 or 10 the kit stops checking, because such a breach can cause
    /// others. A context that may refuse jobs needs capacity for about two hundred jobs.
    ///
    /// - Parameters:
    ///   - context: the context to check.
    ///   - laws: the laws to check.
    ///   - patience: how long to wait for an expected event before reporting a breach. An event
    ///     that comes is noticed at once.
    ///   - shutDown: shuts the context down, if it supports that. The kit calls it last, and once.
    ///     Then the kit checks that accepted jobs still run, that each caller gets an answer, and
    ///     that tasks which prefer the context end. Actors of a context that was shut down are not
    ///     checked, because trapping is correct for them.
    ///   - drive: runs some jobs of a context that runs nothing by itself. The kit calls it
    ///     repeatedly, on a separate thread, while it waits. For a context with virtual time,
    ///     `drive` advances that time.
    public static func check(
        _ context: some ExecutionContext, laws: Set<Int> = all, patience: Duration = .seconds(5),
        shutDown: (@Sendable () -> Void)? = nil, drive: (@Sendable () -> Void)? = nil
    ) async -> [LawBreach] {
        let trial = Trial(of: context.name, patience: patience, drive: drive)
        await trial.onThread {
            checkAll(context, laws, trial)
            guard let shutDown, trial.breaches.isEmpty else { return }
            checkAfter(shutDown, context, laws, trial)
        }
        return trial.breaches
    }

    private static func checkAll(
        _ context: some ExecutionContext, _ laws: Set<Int>, _ trial: Trial
    ) {
        let checks: [(law: Int, check: @Sendable () -> Void)] = [
            (1, { once(context, trial) }),
            (1, { resolves(context, trial) }),
            (1, { if let context = context as? any RefusingContext { refuses(context, trial) } }),
            (1, { if let context = context as? any SynchronousContext { waits(context, trial) } }),
            (4, { knowsItsWork(context, trial) }),
            (4, { knowsForeignThreads(context, trial) }),
            (2, { if let context = context as? any SerialContext { oneAtATime(context, trial) } }),
            (2, { if let context = context as? any SerialContext { inOrder(context, trial) } }),
            (
                2,
                { if let context = context as? any SerialContext { happensBefore(context, trial) } }
            ),
            (3, { if let context = context as? any BarrierContext { excludes(context, trial) } }),
            (
                3,
                { if let context = context as? any BarrierContext { excludesAll(context, trial) } }
            ),
            (7, { delays(context, trial) }),
            (
                7,
                { if let context = context as? any SerialContext { delaysInOrder(context, trial) } }
            ),
            (7, { endlessDelays(context, trial) }),
            (7, { cancels(context, trial) }),
            (7, { cancelsOrRuns(context, trial) }),
            (9, { callsBack(context, trial) }),
            (10, { releases(context, trial) }),
            (
                10,
                {
                    if let context = context as? any SerialContext {
                        releasesAtOnce(context, trial)
                    }
                }
            ),
            (13, { runsTasks(context, trial) }),
            (
                13,
                {
                    if let executor = context as? any TaskExecutor {
                        runsJobs(executor, "a task", trial)
                    }
                }
            ),
            (13, { cancelsBeforeTheStart(context, trial) }),
            (
                13,
                {
                    if let context = context as? any ActorBackingContext {
                        backsAnActor(context, trial)
                    }
                }
            ),
            (
                13,
                {
                    if let context = context as? any SerialContext {
                        cancelsWaiting(context, trial)
                    }
                }
            ),
        ]
        for (law, check) in checks where laws.contains(law) {
            trial.attempt(law, check)
            if trial.breaches.contains(where: { [1, 2, 9, 10].contains($0.law) }) { return }
        }
    }

    private static func checkAfter(
        _ shutDown: @escaping @Sendable () -> Void, _ context: some ExecutionContext,
        _ laws: Set<Int>,
        _ trial: Trial
    ) {
        // The shutdown runs for every choice of laws; that accepted jobs still run is law 1.
        trial.attempt(1) { ends(context, shutDown, trial) }
        let checks: [(law: Int, check: @Sendable () -> Void)] = [
            (1, { answersAfterTheEnd(context, trial) }),
            (1, { enqueuesAfterTheEnd(context, trial) }),
            (13, { tasksAfterTheEnd(context, trial) }),
        ]
        for (law, check) in checks where laws.contains(law) && trial.breaches.isEmpty {
            trial.attempt(law, check)
        }
    }
}
