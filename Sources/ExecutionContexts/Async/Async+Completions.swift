extension Async {
    /// Returns the completions of the futures, in the order in which they complete.
    ///
    /// ```swift
    /// func show(_ birds: [Bird]) async {
    ///     for await completion in Async.completions(of: birds.map { loader.image(of: $0) }) {
    ///         guard let image = try? completion.outcome.get() else { continue }
    ///         print("\(birds[completion.index]): \(image.count) bytes")
    ///     }
    /// }
    /// ```
    ///
    /// Each completion comes once. Those that precede the iteration come first, in the order of the
    /// arguments. An iteration subscribes when it begins. When it ends early, or its task is
    /// cancelled, it leaves the remaining futures; each is cancelled if it has no other interested
    /// subscriber (law 26).
    public static func completions(of asyncs: some Sequence<Async>) -> Completions {
        Completions(states: asyncs.map(\.state))
    }

    /// What ``completions(of:)`` returns; each iteration has every completion.
    public struct Completions: AsyncSequence, Sendable {
        public typealias Element = Completion
        public typealias Failure = Never

        let states: [FutureState]

        /// Subscribes to the futures.
        public func makeAsyncIterator() -> Iterator {
            Iterator(iteration: CompletionIteration(over: states))
        }

        /// One iteration, which leaves the remaining futures with its last copy.
        public struct Iterator: AsyncIteratorProtocol {
            let iteration: CompletionIteration

            /// Waits for the next completion; nil after the last one, or if the task is cancelled.
            public nonisolated(nonsending) mutating func next() async -> Completion? {
                guard let next = await iteration.next() else { return nil }
                return Completion(index: next.index, outcome: next.source.outcome())
            }

            /// Waits for the next completion; nil after the last one, or if the task is cancelled.
            public mutating func next(isolation: isolated (any Actor)?) async -> Completion? {
                await next()
            }
        }
    }
}

/// The owner of an iteration: the futures' queues refer to the other part only.
final class CompletionIteration {
    private let queue: CompletionQueue

    init(over sources: [FutureState]) { queue = CompletionQueue(of: sources) }

    deinit { queue.leave() }

    nonisolated(nonsending) func next() async -> CompletionQueue.Completed? {
        while !Task.isCancelled {
            switch queue.next() {
            case .completed(let completed): return completed
            case .end: return nil
            case .pending(let signal):
                // Throws if the task is cancelled, which the loop finds.
                try? await signal.waitInTask(cancelsIfLast: false)
            }
        }
        queue.leave()
        return nil
    }
}

/// The sources that have completed, in order, and the subscribers of the others.
final class CompletionQueue: SourceObserver {
    /// A source that has completed, and its index.
    typealias Completed = (index: Int, source: FutureState)

    enum Next {
        case completed(Completed)
        case end
        /// Completes with the next source.
        case pending(FutureState)
    }

    private struct Contents: ~Copyable {
        /// The subscribers in the queues of the pending sources, by the index of the source.
        var subscribers: [SourceSubscriber<CompletionQueue>?] = []
        var completed = FIFO<Completed>()
        /// The number of sources that have not completed.
        var missing = 0
        /// What the iterating task waits for.
        var signal: FutureState?
    }

    private let contents = Guarded(Contents())

    init(of sources: [FutureState]) {
        let all = sources.enumerated().map { SourceSubscriber(of: self, in: $1, at: $0) }
        contents.withLock {
            $0.subscribers = all
            $0.missing = all.count
        }
        for (subscriber, source) in zip(all, sources) { source.addSubscriber(subscriber) }
    }

    /// The first source that has completed; otherwise what completes with the next one.
    func next() -> Next {
        contents.withLock { contents in
            if let completed = contents.completed.popFirst() { return .completed(completed) }
            if contents.missing == 0 { return .end }
            let signal = CompletionSignal()
            contents.signal = signal
            return .pending(signal)
        }
    }

    func sourceCompleted(_ source: FutureState, at index: Int) {
        // Not the last reference to the subscriber: the notifying thread has one.
        let signal: FutureState? = contents.withLock { contents in
            guard contents.missing > 0 else { return nil }
            contents.subscribers[index] = nil
            contents.missing -= 1
            contents.completed.append((index, source))
            return contents.signal.take()
        }
        signal?.complete(with: ())
    }

    /// Leaves the sources that have not completed, and forgets the others.
    func leave() {
        var left = Contents()
        contents.withLock { swap(&$0, &left) }
        for case let subscriber? in left.subscribers { subscriber.source?.unsubscribe(subscriber) }
    }

    func forgetSource(at index: Int) {
        // Not the last reference: the queue of the source keeps its subscribers until it is freed.
        contents.withLock { if !$0.subscribers.isEmpty { $0.subscribers[index] = nil } }
    }

    var label: String { "an iteration of completions" }
}

/// Completes when the next source has.
private final class CompletionSignal: FutureState, @unchecked Sendable {
    // Unchecked: it has no state of its own.
    override var label: String { "the next completion" }
}
