internal import ExecutionContexts

/// A task that waits in a queue for an answer: it may go on, or it ends with an error.
///
/// A task joins the queue first, and suspends then. So the answer may come in between:
///
/// | step | joined | suspended | answered |
/// |---|---|---|---|
/// | `suspend` | becomes suspended | - | the task resumes at once |
/// | `answer` | becomes answered | becomes answered, and the task must be resumed | nothing |
///
/// Each step is taken inside the owner's section. What the task receives, a subclass has: the class
/// itself knows no type parameter, for which a task would look up metadata at each wait.
@safe class TaskWaiter: @unchecked Sendable {
    // Unchecked: every property is accessed inside the owner's section only.
    private var continuation: UnsafeContinuation<Void, any Error>?
    private var outcome: Result<Void, any Error>?

    final var isAnswered: Bool { outcome != nil }

    /// Answers the task. The owner performs the resumption outside its section: to resume a task
    /// runs code of the task's executor (law 9).
    final func answer(_ outcome: Result<Void, any Error>) -> Resumption? {
        if isAnswered { return nil }
        self.outcome = outcome
        // Unsafe only if resumed twice or never: it is taken once, with the first answer.
        return unsafe continuation.take().map { unsafe Resumption($0, outcome) }
    }

    /// Keeps the continuation of the suspended task, or returns the answer that has come.
    private func suspend(
        _ continuation: UnsafeContinuation<Void, any Error>
    ) -> Result<Void, any Error>? {
        if let outcome { return outcome }
        unsafe self.continuation = continuation
        return nil
    }

    /// Suspends the calling task until the answer; `cancel` must answer it.
    ///
    /// Called once, by the task that has joined the owner's queue.
    final nonisolated(nonsending) func wait(
        inside section: CriticalSection, onCancel cancel: @Sendable () -> Void
    ) async throws {
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
        private let continuation: UnsafeContinuation<Void, any Error>
        private let outcome: Result<Void, any Error>

        fileprivate init(
            _ continuation: UnsafeContinuation<Void, any Error>,
            _ outcome: Result<Void, any Error>
        ) {
            unsafe self.continuation = continuation
            self.outcome = outcome
        }

        func perform() { unsafe continuation.resume(with: outcome) }
    }
}
