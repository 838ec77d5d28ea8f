/// The cell of an `Async` whose value a body of work brings that was submitted to a context.
final class SubmittedCell<Value: Sendable, Context: ExecutionContext>: AsyncCell,
    @unchecked Sendable  // Nothing of it changes but what its superclass guards.
{
    let submission: Submission<Value>
    private let context: Context

    init(_ submission: Submission<Value>, on context: Context) {
        self.submission = submission
        self.context = context
        super.init()
    }

    /// Work that has started runs to its end, and then it has not been cancelled.
    override func cancel() -> Bool { submission.cancel() }

    override var obstacle: String? {
        guard context is any SerialContext, context.isCurrent == true else { return nil }
        return "it is submitted to '\(context.name)', which the caller keeps busy"
    }

    override var label: String { "submitted to '\(context.name)' at \(submission.place)" }
}
