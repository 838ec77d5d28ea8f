internal import ExecutionContexts

/// A task that waits for an answer; the owner of its queue gives the answer.
///
/// The answer may come before the task has suspended, because a task joins the queue first:
///
/// | step | pending | suspended | answered |
/// |---|---|---|---|
/// | `suspend` | becomes suspended | - | the task resumes at once |
/// | `answer` | becomes answered | becomes answered, and the task must be resumed | nothing: false |
///
/// Each step is taken inside the owner's section.
@safe final class TaskWaiter<Answer: Sendable>: @unchecked Sendable {
    // Unchecked: every property is accessed inside the owner's section only.
    private var continuation: UnsafeContinuation<Answer, any Error>?
    private var outcome: Result<Answer, any Error>?
    /// The priority that the owner's queue has for the task.
    var priority: WorkPriority
    /// The position in the order of arrival.
    let number: UInt64

    init(priority: WorkPriority = .medium, number: UInt64 = 0) {
        self.priority = priority
        self.number = number
    }

    var isAnswered: Bool { outcome != nil }

    /// Answers the task. The owner performs the resumption outside its section: to resume a task
    /// runs code of the task's executor (law 9).
    func answer(_ outcome: Result<Answer, any Error>) -> Resumption? {
        if isAnswered { return nil }
        self.outcome = outcome
        // Unsafe only if resumed twice or never: it is taken once, with the first answer.
        return unsafe continuation.take().map { unsafe Resumption($0, outcome) }
    }

    /// Keeps the continuation of the suspended task, or returns the answer that has come.
    fileprivate func suspend(
        _ continuation: UnsafeContinuation<Answer, any Error>
    ) -> Result<Answer, any Error>? {
        if let outcome { return outcome }
        unsafe self.continuation = continuation
        return nil
    }

    /// Suspends the calling task until the answer; `cancel` must answer it.
    ///
    /// Called once, by the task that has joined the owner's queue.
    nonisolated(nonsending) func answer(
        inside section: CriticalSection, onCancel cancel: @escaping @Sendable () -> Void
    ) async throws -> Answer {
        try await withCancellationHandler {
            try await unsafe withUnsafeThrowingContinuation { continuation in
                if let outcome = section.execute({ unsafe suspend(continuation) }) {
                    unsafe continuation.resume(with: outcome)
                }
            }
        } onCancel: {
            SimulationHooks.undivided(cancel)
        }
    }

    /// What is left to do for a task that was answered while it was suspended.
    @safe struct Resumption {
        private let continuation: UnsafeContinuation<Answer, any Error>
        private let outcome: Result<Answer, any Error>

        init(
            _ continuation: UnsafeContinuation<Answer, any Error>,
            _ outcome: Result<Answer, any Error>
        ) {
            unsafe self.continuation = continuation
            self.outcome = outcome
        }

        func perform() { unsafe continuation.resume(with: outcome) }
    }
}
