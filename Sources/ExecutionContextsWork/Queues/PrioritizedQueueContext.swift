public import ExecutionContexts

extension PrioritizedQueue {
    /// Returns this queue as a context whose jobs wait in the queue with `priority`.
    ///
    /// ```swift
    /// let previews = PrioritizedQueue(on: .global, limit: 4).context(priority: .low)
    /// previews.execute { print("when nothing else waits") }
    /// ```
    ///
    /// The context has the time of the queue's context. It is neither serial nor a barrier context,
    /// whatever that one is, since more urgent jobs overtake (law 8). It keeps the queue alive. To
    /// change a priority, or to remove a job from the queue when it is cancelled, use the queue's
    /// own `submit`.
    ///
    /// A job that waits for another job of the queue, as by `sync` on a view of this context, holds
    /// its permit meanwhile. If all permits are held that way, the jobs deadlock without a message
    /// (law 27). The queue cannot report it, since another thread may raise the limit at any
    /// moment. Submit with `execute` or `run` instead.
    @inlinable
    public func context(priority: WorkPriority = .medium) -> some ExecutionContext {
        PrioritizedQueueContext(queue: self, priority: priority)
    }
}

@usableFromInline
struct PrioritizedQueueContext: ThreadMeaningContext {
    let queue: PrioritizedQueue
    let priority: WorkPriority

    @usableFromInline
    init(queue: PrioritizedQueue, priority: WorkPriority) {
        self.queue = queue
        self.priority = priority
    }

    @usableFromInline
    func execute(_ work: consuming @escaping Work) {
        queue.execute(priority: priority, consume work)
    }

    @usableFromInline
    func enqueue(_ work: consuming @escaping Work) {
        queue.core.submit(consume work, priority, neverInline: true)
    }

    @usableFromInline
    func execute(
        _ work: consuming @escaping Work, refused: consuming @escaping @Sendable (Refusal) -> Void
    ) {
        let core = queue.core
        core.submit(
            RefusableJob(
                core.bound(consume work), refused: consume refused, of: core, priority))
    }

    /// False where the base says false. The base's true proves nothing here, since the base has
    /// other jobs too.
    @usableFromInline
    var isCurrent: Bool? { queue.core.base.isCurrent == false ? false : nil }

    var meansThread: Bool { queue.core.base.jobsMeanThread }

    @usableFromInline
    func checkIsCurrent() -> Bool { queue.core.base.checkIsCurrent() }

    @usableFromInline
    var submissionTransform: (@Sendable (_ work: @escaping Work) -> Work)? {
        queue.core.submissionTransform
    }

    @usableFromInline
    var time: any TimeSource { queue.core.base.time }

    @usableFromInline
    var name: String { queue.name }
}
