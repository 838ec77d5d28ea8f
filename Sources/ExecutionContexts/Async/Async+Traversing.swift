extension Async {
    /// Returns a future of what `body` provides for the elements, in order, `limit` at a time.
    ///
    /// ```swift
    /// let images = Async.traverse(birds, atMost: 4, on: network) { bird in loader.image(of: bird) }
    /// ```
    ///
    /// Elements are taken from the sequence one at a time, on `context`, when the limit allows. The
    /// first error is the outcome: no further element is started, and the pending ones are left;
    /// each is cancelled if it has no other interested subscriber (law 26).
    @_disfavoredOverload
    public static func traverse<Elements: Sequence & Sendable>(
        _ elements: Elements, atMost limit: Int, on context: some ExecutionContext = .immediate,
        fileID: StaticString = #fileID, line: UInt = #line,
        _ body: @escaping @Sendable (Elements.Element) throws -> Async
    ) -> Async<[Value]> {
        require(
            limit > 0,
            "A traversal allows \(limit) at a time, so it can never start. Allow at least 1.")
        let traversal = Traversal(atMost: limit, on: context)
        unsafe traversal.propagation = { _, traversal in
            traversal.complete(with: Traversal.of(traversal).collected.map { $0.load() as Value })
        }
        // Unchecked: one thread at a time calls the closure, each after the one before.
        nonisolated(unsafe) var iterator = elements.makeIterator()
        let body = Deadline.keeping(body)
        let start = Start(traversal: traversal, context: context, place: CodePlace(fileID, line)) {
            try unsafe iterator.next().map(body)?.state
        }
        start.again()
        return Async<[Value]>(state: traversal)
    }
}

/// Starts the next sources of a traversal, on its context.
private struct Start<Context: ExecutionContext>: Sendable {
    let traversal: Traversal
    let context: Context
    let place: CodePlace
    /// Starts the source of the next element; nil if there is none.
    let next: @Sendable () throws -> FutureState?

    func again() {
        traversal.hop(to: context, from: place) { traversal.start(next, again: { again() }) }
    }
}

/// A future state that starts an `Async` for each element, and collects them.
private final class Traversal: Timed, @unchecked Sendable {
    // Unchecked: the progress is guarded.
    private let progress = Guarded(Progress())
    private let limit: Int

    private struct Progress {
        /// The started sources, in order; nil for each that has not completed with a value.
        var ended: [FutureState?] = []
        /// The subscribers in the queues of the pending sources, by their index in that order.
        var subscribers: [Int: SourceSubscriber<Continuation>] = [:]
        /// The number of pending sources.
        var underWay = 0
        var isExhausted = false
        /// Whether a thread is starting a source; then no other thread does.
        var isStarting = false
        var isCollected = false
    }

    init(atMost limit: Int, on context: some ExecutionContext) {
        self.limit = limit
        super.init("traverse", on: context)
    }

    override var dependencies: [Dependency] {
        progress.withLock { Array($0.subscribers.values) }.compactMap(\.dependency)
    }

    // A source that is being started may be the first that fails.
    override var mayEndAlone: Bool {
        super.mayEndAlone || obstacle == nil && progress.withLock { $0.isStarting }
    }

    /// Starts sources up to the limit; completes this when all elements have a value.
    ///
    /// One thread at a time calls `next`. `again` calls this once more, on the context.
    func start(_ next: () throws -> FutureState?, again: @escaping Work) {
        while isPending, mayStart() {
            do {
                guard let source = try next() else { exhaust(); continue }
                let subscriber = progress.withLock { progress in
                    let subscriber = SourceSubscriber(
                        of: Continuation(traversal: self, again: again), in: source,
                        at: progress.ended.count)
                    progress.ended.append(nil)
                    progress.subscribers[subscriber.index] = subscriber
                    progress.underWay += 1
                    progress.isStarting = false
                    return subscriber
                }
                source.addSubscriber(subscriber)
                if !isPending {
                    // This completed meanwhile, and forgot the earlier sources.
                    _ = forget()
                    source.unsubscribe(subscriber)
                }
            } catch {
                complete(throwing: error)
            }
        }
        // Passes itself as the source: the propagation needs only what has been collected.
        if mayCollect() { propagate(self) }
    }

    /// The sources, which all have a value, in order.
    var collected: [FutureState] { progress.withLock { $0.ended }.compactMap { $0 } }

    private func mayStart() -> Bool {
        progress.withLock { progress in
            guard !progress.isStarting, !progress.isExhausted, progress.underWay < limit else {
                return false
            }
            progress.isStarting = true
            return true
        }
    }

    private func exhaust() {
        progress.withLock { progress in
            progress.isExhausted = true
            progress.isStarting = false
        }
    }

    private func mayCollect() -> Bool {
        progress.withLock { progress in
            guard progress.isExhausted, progress.underWay == 0, !progress.isCollected else {
                return false
            }
            progress.isCollected = true
            return true
        }
    }

    override func didComplete() {
        let before = forget()
        // Otherwise `propagate` has taken it.
        if !before.isCollected { freePropagation() }
        for subscriber in before.subscribers.values { subscriber.source?.unsubscribe(subscriber) }
        super.didComplete()
    }

    private func forget() -> Progress {
        progress.withLock { exchange(&$0, with: Progress(isExhausted: true, isCollected: true)) }
    }

    private struct Continuation: SourceObserver {
        let traversal: Traversal
        let again: Work

        func sourceCompleted(_ source: FutureState, at index: Int) {
            let isFailure = unsafe source.isFailure
            // No object of the user is freed under the lock: the notifying thread holds the
            // subscriber, and the subscriber holds its closure.
            traversal.progress.withLock { progress in
                guard progress.subscribers.removeValue(forKey: index) != nil else { return }
                progress.underWay -= 1
                if !isFailure { progress.ended[index] = source }
            }
            if let error = source.error { traversal.complete(throwing: error) } else { again() }
        }

        // Its source still counts as pending, since it will never notify.
        func forgetSource(at index: Int) {
            traversal.progress.withLock { _ = $0.subscribers.removeValue(forKey: index) }
        }

        var label: String { traversal.label }
    }
}
