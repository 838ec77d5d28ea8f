public import ExecutionContexts

/// A job that a queue has accepted: its result, its priority, and a way to cancel it.
///
/// ```swift
/// let queue = PrioritizedQueue(on: .global, limit: 1)
/// let index = queue.submit(priority: .low) { 42 }
/// index.priority = .highest
/// if index.cancel() { print("it will never start") }
/// ```
///
/// A copy refers to the same job. The job also runs if no copy is kept. Any thread may use it.
public struct QueuedWork<Value: Sendable>: Sendable {
    /// The result. Cancelling it cancels the job.
    public var async: Async<Value> { job.result(of: Value.self).async }

    private let job: ResultJob

    @usableFromInline
    init(_ job: ResultJob) { self.job = job }

    /// The priority, which orders the job while it is queued.
    ///
    /// A raised job is placed after all others of its new priority. A lowered job is placed before
    /// them, since it preceded them until then. Setting the current priority keeps its position.
    /// The setter takes constant time, however many jobs are queued.
    ///
    /// Once the job has been handed to the queue's context, its order is fixed. From then on the
    /// priority is stored only, and the task of an async body is escalated with it, where the
    /// system can do that.
    public var priority: WorkPriority {
        get { job.core.priority(of: job) }
        nonmutating set { job.core.setPriority(newValue, of: job) }
    }

    /// Cancels the job: true if it never started and never will, false if it has started or ended
    /// (law 32).
    ///
    /// It can succeed until the body begins, also when the job was already handed to the context.
    /// Then the body's captures are freed before the call returns, and the `Async` ends with
    /// `CancellationError`. A synchronous body that has begun runs to its end. The task of an async
    /// body is cancelled, and an ``OpenWork`` is notified by `onCancel`; the `Async` of both ends
    /// at once.
    @discardableResult
    public func cancel() -> Bool {
        if job.core.cancel(job) { return true }
        job.stop(Value.self)
        return false
    }

    /// Whether the job still waits for a permit.
    public var isPending: Bool { job.core.isPending(job) }
}

extension QueuedWork: CancellationHandle {
    /// Whether the job has ended, or was cancelled before it started.
    public var isFinished: Bool { job.core.isOver(job) }

    /// Registers this with a scope, which cancels it at the latest when the scope is released;
    /// returns this.
    ///
    /// The scope retains neither the job nor its value.
    @discardableResult
    public func stored(in scope: CancellationScope) -> Self {
        scope.store(WeakHandle<Value>(job))
        return self
    }
}

/// A weak reference to a queued job.
private final class WeakHandle<Value: Sendable>: CancellationHandle, @unchecked Sendable {
    // Unchecked: a weak reference may be read by any thread, and is never assigned again.
    private weak var job: ResultJob?

    init(_ job: ResultJob) { self.job = job }

    func cancel() -> Bool { job.map { QueuedWork<Value>($0).cancel() } ?? false }

    var isFinished: Bool { job.map { $0.core.isOver($0) } ?? true }
}
