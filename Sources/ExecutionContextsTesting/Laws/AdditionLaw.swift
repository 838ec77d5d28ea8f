public import ExecutionContexts
internal import Foundation

extension Laws {
    /// Checks views with `addition` against the laws that contexts keep.
    ///
    /// ```swift
    /// let breaches = await Laws.check(Counting(counter: Counter()))
    /// #expect(breaches.isEmpty, "\(breaches)")
    /// ```
    ///
    /// The views are of contexts of each kind: inline, concurrent, serial, with barriers. So the
    /// addition must run each job once, on its thread, before its own job returns, for `execute`,
    /// `sync`, barriers, delays, tasks and actors.
    public static func check(
        _ addition: some ContextAddition, patience: Duration = .seconds(5)
    ) async -> [LawBreach] {
        let trial = Trial(of: "\(type(of: addition))", patience: patience, drive: nil)
        await trial.onThread { runsInPlace(addition, trial) }
        // On a context, a job that does not run in place may trap.
        if !trial.breaches.isEmpty { return trial.breaches }
        var breaches = await check(ImmediateContext().with(addition), patience: patience)
        breaches += await check(GlobalContext().with(addition), patience: patience)
        breaches += await check(
            SerialQueueContext(name: "serial").with(addition), patience: patience)
        breaches += await check(
            BarrierQueueContext(name: "barriers").with(addition), patience: patience)
        breaches += await check(GlobalContext().with(addition).serial(), patience: patience)
        return breaches
    }

    /// Checks that a decorated job runs its work once, on its own thread, before it returns.
    private static func runsInPlace(_ addition: some ContextAddition, _ trial: Trial) {
        let addition = addition.attached(to: ImmediateContext())
        for _ in 0..<3 {
            let threads = Locked<[ObjectIdentifier]>([])
            addition.decorate {
                threads.withLock { $0.append(ObjectIdentifier(Thread.current)) }
            }()
            let ran = threads.withLock { $0 }
            if ran == [ObjectIdentifier(Thread.current)] { continue }
            let isElsewhere = ran.count == 1
            return trial.report(
                isElsewhere ? 4 : 1,
                isElsewhere
                    ? "ran a decorated job on another thread"
                    : "had run a decorated job \(ran.count) times when it returned, and not once",
                "Run the work of decorate once, in the job that it returns.")
        }
    }
}
