public import ExecutionContexts

/// Work that a queue has accepted: how it ends, how urgent it is, and a way to call it off.
///
/// ```swift
/// let queue = PrioritizedQueue(on: .global, limit: 1)
/// let index = queue.submit(priority: .low) { 42 }
/// index.priority = .highest
/// if index.cancel() { print("it will never start") }
/// ```
///
/// A copy is the same work. Nobody has to keep it: the work runs all the same. It may be used from
/// any thread.
public struct QueuedWork<Value: Sendable>: Sendable {
    /// How it ends. To cancel this cancels the work.
    public let async: Async<Value>

    private let job: AnswerJob<Value>

    init(_ job: AnswerJob<Value>) {
        self.job = job
        async = job.promise.async
    }

    /// How urgent it is.
    ///
    /// Raised, the work waits behind all others of its new priority; lowered, before them, since it
    /// stood before them until then; to set what it is already leaves it at its place. It takes as
    /// long however much waits.
    ///
    /// Once the work has been handed to the queue's context its turn has come. Then the priority is
    /// kept and changes no order; the task of an async body is raised with it, where the system can
    /// do that.
    public var priority: WorkPriority {
        get { job.core.priority(of: job) }
        nonmutating set { job.core.setPriority(newValue, of: job) }
    }

    /// Cancels the work: true if it never started and never will, false if it has started or ended
    /// (law 32).
    ///
    /// It can win until the body begins, also when the context has the work already. Then what the
    /// body captured is freed before the call returns, and the `Async` ends with
    /// `CancellationError`. A synchronous body that has begun runs to its end. The task of an async
    /// one is cancelled, and an open piece is told, by `onCancel`; the `Async` of both ends at
    /// once.
    @discardableResult
    public func cancel() -> Bool {
        if job.core.cancel(job) { return true }
        job.stop()
        return false
    }

    /// Whether it still waits for a place.
    public var isPending: Bool { job.core.isPending(job) }
}
