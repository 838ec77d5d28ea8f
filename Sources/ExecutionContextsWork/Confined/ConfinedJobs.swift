internal import ExecutionContexts

/// The jobs that a group of objects runs, one at a time, on a serial context that they share.
///
/// A call from that context runs its job at once where order allows (law 6); any other call submits
/// it. A job that is requested during another job of the group runs behind it, before the thread
/// returns to the context. So no state is entered twice, a chain of calls does not nest the stack,
/// and the chain takes one submission.
final class ConfinedJobs: @unchecked Sendable {
    // Unchecked: mutable state is accessed on the context only, which is serial.
    let context: any SerialContext
    private let entry: any SerialContext
    /// What the context adds to its jobs; nil if it adds nothing.
    private let additions: InlineAdditions?
    private var waiting = WorkQueue()
    private var isRunning = false

    init(on context: some SerialContext) {
        self.context = context
        entry = context.inlineIfCurrent()
        additions = InlineAdditions(of: context)
    }

    /// Runs a job inline or later. It completes work that was accepted before, so a full context
    /// takes it above its capacity.
    func perform(_ job: @escaping Work) {
        let submitted: Work = { self.run(job) }
        entry.execute(submitted, refused: { [entry] _ in entry.enqueue(submitted) })
    }

    /// Runs a job inline or later, or reports the refusal.
    func perform(_ job: @escaping Work, refused: @escaping @Sendable (Refusal) -> Void) {
        entry.execute({ self.run(job) }, refused: refused)
    }

    /// Runs a job behind the running one, before those that other callers submit. Call it in a job
    /// of the group.
    func runAfterCurrent(_ job: @escaping Work) { waiting.append(job) }

    /// Whether the caller is known to be on the context, and may run a job at once.
    var canRunHere: Bool { context.isCurrent == true && additions?.skipsNow != true }

    /// Runs a job at once, with what the context adds to its jobs. The caller is on the context and
    /// ensures the order.
    func runHere(_ job: @escaping Work) {
        guard !isRunning, let additions else { return run(job) }
        additions.adding(to: { self.run(job) })()
    }

    /// Runs a job inline, or behind the running one. The caller is on the context and ensures the
    /// order.
    func run(_ job: @escaping Work) {
        waiting.append(job)
        if isRunning { return }
        isRunning = true
        while let next = waiting.popFirst() { next() }
        isRunning = false
    }
}
