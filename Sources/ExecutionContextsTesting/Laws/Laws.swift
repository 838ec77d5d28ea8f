public import ExecutionContexts

/// Checks a context, one of this library's or one of your own, against the laws that contexts keep.
///
/// It depends on no test framework: it returns what it found.
///
/// ```swift
/// let breaches = await Laws.check(MyContext())
/// #expect(breaches.isEmpty, "\(breaches)")
/// ```
///
/// The kit sees what the context says of itself: a `SerialContext` is also checked for order, a
/// `BarrierContext` for barriers, and so on. Some hard checks can only pass or stop the program, so a
/// context whose `checkIsCurrent` fails falsely stops the test with its own message.
public enum Laws {
    /// The laws that the kit can check: once, order, barrier, where am I, time, no call-outs under a lock,
    /// lifetimes, both worlds.
    public static let all: Set<Int> = [1, 2, 3, 4, 7, 9, 10, 13]

    /// Checks `context` and returns the laws that it broke: nothing if it keeps them all.
    ///
    /// A context that breaks law 1, 2, 9 or 10 is not asked for more: it could break any other as a
    /// consequence. One that may refuse work needs room for some two hundred pieces.
    ///
    /// - Parameters:
    ///   - context: the context to check.
    ///   - laws: which laws to check.
    ///   - patience: how long to wait for what never happens, before saying so. What does happen is noticed
    ///     at once.
    ///   - shutDown: ends the context, if it can end. It is called last, and once; then the kit checks that what was accepted
    ///     still runs, that whoever asks is answered, and that tasks which prefer the context come to their ends. The actors
    ///     of a context that has ended are not checked: to stop the program is right there.
    ///   - drive: runs some of the work of a context that runs nothing by itself; it is called on a thread of
    ///     its own, over and over while the kit waits. For a context with a time of its own it moves that on.
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
            (4, { knowsStrangers(context, trial) }),
            (2, { if let context = context as? any SerialContext { oneAtATime(context, trial) } }),
            (2, { if let context = context as? any SerialContext { inOrder(context, trial) } }),
            (2, { if let context = context as? any SerialContext { happensBefore(context, trial) } }),
            (3, { if let context = context as? any BarrierContext { excludes(context, trial) } }),
            (3, { if let context = context as? any BarrierContext { excludesAll(context, trial) } }),
            (7, { delays(context, trial) }),
            (7, { if let context = context as? any SerialContext { delaysInOrder(context, trial) } }),
            (7, { endlessDelays(context, trial) }),
            (7, { cancels(context, trial) }),
            (7, { cancelsOrRuns(context, trial) }),
            (9, { callsBack(context, trial) }),
            (10, { releases(context, trial) }),
            (10, { if let context = context as? any SerialContext { releasesAtOnce(context, trial) } }),
            (13, { runsTasks(context, trial) }),
            (13, { if let executor = context as? any TaskExecutor { runsJobs(executor, "a task", trial) } }),
            (13, { cancelsBeforeTheStart(context, trial) }),
            (13, { if let context = context as? any ActorBackingContext { backsAnActor(context, trial) } }),
            (13, { if let context = context as? any SerialContext { cancelsWaiting(context, trial) } }),
        ]
        for (law, check) in checks where laws.contains(law) {
            trial.attempt(law, check)
            if trial.breaches.contains(where: { [1, 2, 9, 10].contains($0.law) }) { return }
        }
    }

    private static func checkAfter(
        _ shutDown: @escaping @Sendable () -> Void, _ context: some ExecutionContext, _ laws: Set<Int>,
        _ trial: Trial
    ) {
        // It ends whichever laws are asked for, and what it accepted is law 1.
        trial.attempt(1) { ends(context, shutDown, trial) }
        let checks: [(law: Int, check: @Sendable () -> Void)] = [
            (1, { answersAfterTheEnd(context, trial) }),
            (1, { turnsAfterTheEnd(context, trial) }),
            (13, { tasksAfterTheEnd(context, trial) }),
        ]
        for (law, check) in checks where laws.contains(law) && trial.breaches.isEmpty {
            trial.attempt(law, check)
        }
    }
}
