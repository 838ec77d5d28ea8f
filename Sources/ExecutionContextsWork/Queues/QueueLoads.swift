internal import ExecutionContexts

/// How many jobs a queue has.
public struct QueueLoad: Hashable, Sendable {
    /// How many wait for a permit.
    public let pendingCount: Int
    /// How many hold a permit: those that run, and those that the context has not begun.
    public let runningCount: Int

    /// Whether there is no job.
    public var isIdle: Bool { pendingCount == 0 && runningCount == 0 }
}

/// The loads of a queue, as an async sequence; made by `PrioritizedQueue.loads`.
public struct QueueLoads: AsyncSequence, Sendable {
    public typealias Element = QueueLoad
    public typealias Failure = Never

    let core: PrioritizedQueueCore

    public func makeAsyncIterator() -> Iterator { Iterator(watch: Watch(core)) }

    /// One consumer. It retains the state of the queue, not the queue.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate let watch: Watch
        private var last: QueueLoad?

        fileprivate init(watch: Watch) { self.watch = watch }

        /// Returns the load at once, and later when it has changed; nil if the task is cancelled.
        public mutating func next(
            isolation: isolated (any Actor)? = #isolation
        ) async -> QueueLoad? {
            while true {
                var changes = watch.changes.makeAsyncIterator()
                guard await changes.next(isolation: isolation) != nil else { return nil }
                let load = watch.core.load
                if load == last { continue }
                last = load
                return load
            }
        }
    }

    /// Records that there was a change, until the iterator is released.
    fileprivate final class Watch: Sendable {
        let core: PrioritizedQueueCore
        /// Holds at most one element: the load is read when the consumer requests it.
        let changes = Channel<Void>(keepingLatest: 1)
        private let number: Int

        init(_ core: PrioritizedQueueCore) {
            self.core = core
            number = core.addWatcher { [changes] in try? changes.trySend(()) }
            try? changes.trySend(())
        }

        deinit { core.removeWatcher(number) }
    }
}

extension PrioritizedQueue {
    /// How many jobs the queue has, now and whenever that changes, as an async sequence.
    ///
    /// ```swift
    /// let downloads = PrioritizedQueue(on: context, limit: 4)
    /// for await load in downloads.loads { print("\(load.pendingCount) wait") }
    /// ```
    ///
    /// A slow consumer receives the load at the time of its request, and misses those in between.
    public var loads: QueueLoads { QueueLoads(core: core) }
}

extension PrioritizedQueueCore {
    fileprivate var load: QueueLoad {
        withState { QueueLoad(pendingCount: $0.pendingCount, runningCount: $0.runningCount) }
    }
}
