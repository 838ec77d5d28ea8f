internal import ExecutionContexts

/// A task that waits in a queue for an answer: it continues, or throws an error.
///
/// A task joins the queue first, and then suspends. So the answer may arrive in between:
///
/// | step | joined | suspended | answered |
/// |---|---|---|---|
/// | `suspend` | becomes suspended | - | the task resumes at once |
/// | `answer` | becomes answered | becomes answered, and the task must be resumed | nothing |
///
/// Each step is taken inside the owner's section, and so is the check of the answer after the wait.
/// The continuation carries no value and no error: a generic one is looked up at each wait.
@usableFromInline
@safe class TaskWaiter: @unchecked Sendable {
    // Unchecked, also at run time: every property is accessed inside the owner's section only, and
    // no access lasts longer than a line.
    @exclusivity(unchecked) private var continuation: UnsafeContinuation<Void, Never>?
    @exclusivity(unchecked) private var hasAnswer = false
    @exclusivity(unchecked) private var failure: (any Error)?

    final var isAnswered: Bool { unsafe hasAnswer }

    /// The error that the task throws; nil if it continues.
    final var error: (any Error)? { unsafe failure }

    /// Answers the task: it continues, or throws an error. The owner performs the resumption
    /// outside its section: resuming a task runs code of the task's executor (law 9).
    final func answer(_ error: (any Error)? = nil) -> Resumption? {
        if isAnswered { return nil }
        unsafe (hasAnswer, failure) = (true, error)
        // Unsafe only if resumed twice or never: it is taken once, with the first answer.
        guard let continuation = unsafe continuation.take() else { return nil }
        return unsafe Resumption(continuation)
    }

    /// Stores the continuation of the suspended task; false if the answer has arrived.
    private func suspend(_ continuation: UnsafeContinuation<Void, Never>) -> Bool {
        if isAnswered { return false }
        unsafe self.continuation = continuation
        return true
    }

    /// Suspends the calling task until the answer; `cancel` must answer it.
    ///
    /// Called once, by the task that has joined the owner's queue.
    final func wait(
        isolation: isolated (any Actor)? = #isolation, inside section: CriticalSection,
        onCancel cancel: @Sendable () -> Void
    ) async {
        await withTaskCancellationHandler {
            // A closure that captures an isolated parameter belongs to the actor in it.
            _ = isolation
            await unsafe withUnsafeContinuation { continuation in
                if section.execute({ unsafe suspend(continuation) }) { return }
                unsafe continuation.resume()
            }
        } onCancel: {
            SimulationHooks.undivided(cancel)
        }
    }

    /// The pending resumption of a task that was answered while it was suspended.
    @safe struct Resumption {
        private let continuation: UnsafeContinuation<Void, Never>

        fileprivate init(_ continuation: UnsafeContinuation<Void, Never>) {
            unsafe self.continuation = continuation
        }

        func perform() { unsafe continuation.resume() }
    }
}
