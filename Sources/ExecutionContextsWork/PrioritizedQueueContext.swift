public import ExecutionContexts

extension PrioritizedQueue {
    /// This queue as a context, for those who want one: what it is given waits in the line of `priority`.
    ///
    /// ```swift
    /// let previews = PrioritizedQueue(on: .global, limit: 4).context(priority: .low)
    /// previews.execute { print("when nothing else waits") }
    /// ```
    ///
    /// It has the time of the queue's context, and is neither serial nor a barrier context, whatever that one is: what is
    /// more urgent overtakes (law 8). It keeps the queue. To change a priority, or to take work out of the line when it is
    /// cancelled, use the queue's own `submit`.
    ///
    /// A job that waits for another one of the queue, as by `sync` on a view of this context, keeps
    /// its place meanwhile. Where all places are kept that way, the jobs hang in silence. No message
    /// tells of it: somebody may raise the queue's limit at any moment, so the wait is not known to
    /// be endless (law 27). Submit with `execute` or `run` instead.
    public func context(priority: WorkPriority = .medium) -> some ExecutionContext {
        PrioritizedQueueContext(queue: self, priority: priority)
    }
}

private struct PrioritizedQueueContext: ExecutionContext {
    let queue: PrioritizedQueue
    let priority: WorkPriority

    func execute(_ work: consuming @escaping Work) { queue.execute(priority: priority, consume work) }

    func enqueue(_ work: consuming @escaping Work) {
        let core = queue.core
        core.submit(PlainJob(core.bound(consume work), refused: nil, of: core, priority), elsewhere: true)
    }

    func execute(_ work: consuming @escaping Work, refused: @escaping @Sendable (Refusal) -> Void) {
        let core = queue.core
        core.submit(PlainJob(core.bound(consume work), refused: refused, of: core, priority))
    }

    /// No where the base says no; that the base says yes is nothing yet, since it has other work too.
    var isCurrent: Bool? { queue.core.base.isCurrent == false ? false : nil }

    func checkIsCurrent() -> Bool { queue.core.base.checkIsCurrent() }

    var binding: (@Sendable (_ work: @escaping Work) -> Work)? { queue.core.base.binding }

    var time: any TimeSource { queue.core.base.time }

    var name: String { queue.name }
}
