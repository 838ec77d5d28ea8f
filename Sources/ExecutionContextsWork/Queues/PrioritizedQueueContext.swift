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
    public func context(priority: WorkPriority = .medium) -> PrioritizedQueueContext {
        PrioritizedQueueContext(queue: self, priority: priority)
    }
}

/// A prioritized queue as a context: what `context(priority:)` returns.
public struct PrioritizedQueueContext: ExecutionContext {
    let queue: PrioritizedQueue
    let priority: WorkPriority

    init(queue: PrioritizedQueue, priority: WorkPriority) {
        self.queue = queue
        self.priority = priority
    }

    public func execute(_ work: consuming @escaping Work) {
        queue.execute(priority: priority, consume work)
    }

    public func enqueue(_ work: consuming @escaping Work) {
        queue.core.submit(consume work, priority, neverInline: true)
    }

    public func execute(
        _ work: consuming @escaping Work, refused: consuming @escaping @Sendable (Refusal) -> Void
    ) {
        let core = queue.core
        core.submit(
            RefusableJob(
                core.bound(consume work), refused: consume refused, of: core, priority))
    }

    /// False where the base answers false. The base's true proves nothing here, since the base also
    /// has other jobs.
    public var isCurrent: Bool? { queue.core.base.isCurrent == false ? false : nil }

    public func checkIsCurrent() -> Bool { queue.core.base.checkIsCurrent() }

    public var submissionTransform: (@Sendable (_ work: @escaping Work) -> Work)? {
        queue.core.submissionTransform
    }

    public var time: any TimeSource { queue.core.base.time }

    public var name: String { queue.name }

    public var facts: ContextFacts {
        var facts = ContextFacts()
        facts.meansThread = queue.core.base.jobsMeanThread
        return facts
    }
}
