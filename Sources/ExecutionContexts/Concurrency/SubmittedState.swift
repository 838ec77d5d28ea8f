/// The future state of a job that was submitted to a context.
final class SubmittedState<Value: Sendable, Context: ExecutionContext>: FutureState,
    @unchecked Sendable
{
    // Unchecked: the context is read while the state is locked and pending, and released by the
    // thread that ended it.
    let submission: Submission<Value>
    private var context: Context?

    init(_ submission: Submission<Value>, on context: Context) {
        self.submission = submission
        self.context = context
        super.init(tag: Self.holdsUntilEnd)
    }

    /// A job that has started runs to its end, and then it has not been cancelled.
    override func cancel() -> Bool { submission.cancel() }

    override func escalateTask(to priority: TaskPriority) {
        (whilePending { context } as? any EscalatingContext)?.raise(to: priority)
    }

    override func didEnd() { context = nil }

    override var obstacle: String? {
        guard let context = whilePending({ context }), context is any SerialContext,
            context.isCurrent == true
        else { return nil }
        return "it is submitted to '\(context.name)', which the caller keeps busy"
    }

    override var label: String {
        let destination = whilePending({ context }).map { " to '\($0.name)'" } ?? ""
        return "submitted\(destination) at \(submission.sourceLocation)"
    }
}
