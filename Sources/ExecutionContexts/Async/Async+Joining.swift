internal import Synchronization

extension Async {
    /// Returns a future of all the values, in the order of the arguments, or of the first error.
    ///
    /// On an error it leaves the other sources; each is cancelled if it has no other interested
    /// subscriber (law 26). Without elements it completes at once, with an empty array.
    @inlinable
    public static func all(_ asyncs: some Sequence<Async>) -> Async<[Value]> {
        let states = asyncs.map(\.state)
        guard !states.isEmpty else { return Async<[Value]>(.success([])) }
        return Async<[Value]>(
            state: Combinator(.all, of: states) { _, combinator in
                guard let states = Combinator.sources(of: combinator) else { return }
                combinator.complete(with: states.map { $0.load() as Value })
            })
    }

    /// Returns a future that completes like the first to complete, with a value or an error.
    ///
    /// It then leaves the other sources; each is cancelled if it has no other interested subscriber
    /// (law 26). Without elements it completes at once, with ``AsyncError/nothingToWaitFor``.
    @inlinable
    public static func first(of asyncs: some Sequence<Async>) -> Async {
        decided(.first, of: asyncs, FutureState.copy(Value.self))
    }

    /// Returns a future of the first value; of the last error, if all of them fail.
    ///
    /// It then leaves the other sources; each is cancelled if it has no other interested subscriber
    /// (law 26). Without elements it completes at once, with ``AsyncError/nothingToWaitFor``.
    @inlinable
    public static func firstSuccess(of asyncs: some Sequence<Async>) -> Async {
        decided(.firstSuccess, of: asyncs, FutureState.copy(Value.self))
    }

    @inlinable
    static func decided<NewValue>(
        _ goal: Combinator.Goal, of asyncs: some Sequence<Async>,
        _ propagation: @escaping FutureState.Propagation
    ) -> Async<NewValue> {
        let states = asyncs.map(\.state)
        guard !states.isEmpty else { return Async<NewValue>(error: AsyncError.nothingToWaitFor) }
        return Async<NewValue>(state: Combinator(goal, of: states, propagation))
    }

    /// Returns a future of all the values, in the order of the arguments, or of the first error.
    ///
    /// ```swift
    /// let page = dataSource.getBirds().zip(database.submit { 7 }, Async { "title" })
    /// page.onSuccess(on: .main) { birds, count, title in print(birds, count, title) }
    /// ```
    ///
    /// The types of the values may differ. An error has the same effect as in ``all(_:)``.
    @inlinable
    public func zip<Second: Sendable, each Other: Sendable>(
        _ second: Async<Second>, _ others: repeat Async<each Other>
    ) -> Async<(Value, Second, repeat each Other)> {
        var states = [state, second.state]
        repeat states.append((each others).state)
        return Async<(Value, Second, repeat each Other)>(
            state: Combinator(.all, of: states) { _, combinator in
                guard let states = Combinator.sources(of: combinator) else { return }
                var next = 0
                func load<Element>(_ type: Element.Type) -> Element {
                    defer { next += 1 }
                    return states[next].load()
                }
                combinator.complete(
                    with: (
                        load(Value.self), load(Second.self), repeat load((each Other).self)
                    ))
            })
    }

    /// How one of several futures completed, and which one it was.
    public struct Completion: Sendable {
        /// The position of the future among those that were passed, from 0.
        public let index: Int
        /// Its value or its error.
        public let outcome: Outcome

        @usableFromInline
        init(index: Int, outcome: Outcome) {
            self.index = index
            self.outcome = outcome
        }
    }

    /// Returns a future of all the outcomes, in the order of the arguments, errors among them.
    ///
    /// Unlike ``all(_:)`` it waits for each source. Cancelling it leaves the sources (law 26).
    /// Without elements it completes at once, with an empty array.
    ///
    /// ```swift
    /// Async.allSettled(birds.map { loader.image(of: $0) }).onSuccess(on: .main) { outcomes in
    ///     let images = outcomes.compactMap { try? $0.get() }
    ///     print("\(images.count) images, \(outcomes.count - images.count) failures")
    /// }
    /// ```
    @inlinable
    public static func allSettled(_ asyncs: some Sequence<Async>) -> Async<[Outcome]> {
        let states = asyncs.map(\.state)
        guard !states.isEmpty else { return Async<[Outcome]>(.success([])) }
        return Async<[Outcome]>(
            state: Combinator(.settled, of: states) { _, combinator in
                guard let states = Combinator.sources(of: combinator) else { return }
                combinator.complete(with: states.map { $0.outcome() as Outcome })
            })
    }

    /// Returns a future that says which of the futures completes first, and how.
    ///
    /// It is ``first(of:)`` for a caller that must know the winner. An error of the winner is part
    /// of the value, so this fails only if it is cancelled or has no elements.
    @inlinable
    public static func firstCompletion(of asyncs: some Sequence<Async>) -> Async<Completion> {
        decided(.first, of: asyncs) { source, combinator in
            let index = Combinator.winner(of: combinator)
            combinator.complete(with: Completion(index: index, outcome: source.outcome()))
        }
    }

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
    /// Each completion comes once; those that precede the iteration, in the order of the arguments.
    /// An iteration that ends early, or whose task is cancelled, leaves the remaining futures; each
    /// is cancelled if it has no other interested subscriber (law 26).
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

/// A future state of several sources: it completes when all of them have, or with the first.
@usableFromInline
final class Combinator: FutureState, SourceObserver, @unchecked Sendable {
    // Unchecked: mutable state is atomic or guarded.

    @usableFromInline
    enum Goal: UInt8 {
        /// Completes when all sources have a value, or with the first error.
        case all
        case first
        /// Completes with the first value, or with the last error.
        case firstSuccess
        case settled
    }

    private let goal: Goal
    private let size: Int
    /// The number of sources that have not completed.
    private let missing: Atomic<Int>
    private let decision = Decision()
    private let sources: Guarded<Sources>

    private struct Sources {
        /// The subscribers in the queues of the pending sources, by the index of the source.
        var subscribers: [SourceSubscriber<Combinator>?] = []
        /// The sources that have completed as wanted, in order; only for goals that need all.
        var ended: [FutureState?]
    }

    /// The index of the deciding source. The deciding thread writes it, and then propagates.
    private var winner = 0

    /// Subscribes to the sources at once. `propagation` gets the deciding source, and this.
    @usableFromInline
    init(_ goal: Goal, of sources: [FutureState], _ propagation: @escaping Propagation) {
        self.goal = goal
        size = sources.count
        missing = Atomic(sources.count)
        let collects = goal == .all || goal == .settled
        self.sources = Guarded(
            Sources(ended: collects ? Array(repeating: nil, count: sources.count) : []))
        super.init(propagation, tag: Self.holdsUntilCompletion)
        let all = sources.enumerated().map { SourceSubscriber(of: self, in: $1, at: $0) }
        self.sources.withLock { $0.subscribers = all }
        for (subscriber, source) in Swift.zip(all, sources) {
            // Once this has completed, it does not wait for the remaining sources.
            guard isPending else { source.cancelIfUnwanted(); continue }
            source.addSubscriber(subscriber)
            if !isPending { source.unsubscribe(subscriber) }
        }
    }

    /// The sources of a combinator that needs all, in order; nil if it was cancelled.
    @usableFromInline
    static func sources(of state: FutureState) -> [FutureState]? {
        let combinator = unsafe unsafeDowncast(state, to: Combinator.self)
        let ended = combinator.sources.withLock { $0.ended }.compactMap { $0 }
        return ended.count == combinator.size ? ended : nil
    }

    /// The index of the source that decided.
    @usableFromInline
    static func winner(of state: FutureState) -> Int {
        unsafe unsafeDowncast(state, to: Combinator.self).winner
    }

    func sourceCompleted(_ source: FutureState, at index: Int) {
        let isWanted = unsafe goal == .settled || goal == .all && !source.isFailure
        // Not the last reference to the subscriber: the notifying thread has one.
        sources.withLock { sources in
            guard !sources.subscribers.isEmpty else { return }
            sources.subscribers[index] = nil
            if isWanted { sources.ended[index] = source }
        }
        // Acquiring and releasing: the deciding thread sees the outcomes of the sources before it.
        SimulationHooks.point()
        let isLast = missing.wrappingSubtract(1, ordering: .acquiringAndReleasing).newValue == 0
        let decides =
            switch goal {
            case .all: unsafe source.isFailure || isLast && hasAllValues
            case .first: true
            case .firstSuccess: unsafe !source.isFailure || isLast
            case .settled: isLast
            }
        guard decides, decision.make() else { return }
        winner = index
        guard goal == .all, let error = source.error else { return propagate(source) }
        freePropagation()
        complete(throwing: error)
    }

    /// Whether no source has failed: one that has may not have decided yet, and then it must.
    private var hasAllValues: Bool { sources.withLock { $0.ended.allSatisfy { $0 != nil } } }

    override func didComplete() {
        let sources = sources.withLock { exchange(&$0, with: Sources(ended: [])) }
        // Relaxed: if all have completed, no subscriber is queued; else unsubscribing is harmless.
        if missing.load(ordering: .relaxed) > 0 {
            for case let subscriber? in sources.subscribers {
                subscriber.source?.unsubscribe(subscriber)
            }
        }
        if decision.make() { freePropagation() }
    }

    func forgetSource(at index: Int) {
        sources.withLock { if !$0.subscribers.isEmpty { $0.subscribers[index] = nil } }
    }

    override var dependencies: [Dependency] {
        sources.withLock { $0.subscribers }.compactMap { $0?.dependency }
    }

    // One source may be the first, the first success, or the first that fails.
    override var needsAll: Bool { goal == .settled }

    override var label: String {
        switch goal {
        case .all: "all of \(size)"
        case .first: "the first of \(size)"
        case .firstSuccess: "the first success of \(size)"
        case .settled: "the outcomes of all \(size)"
        }
    }
}

/// What learns how each of several sources ends.
protocol SourceObserver: Sendable {
    func sourceCompleted(_ source: FutureState, at index: Int)

    /// Drops the subscriber of a source that is freed while pending: they must not keep each other.
    /// It is not the last reference: the queue of the source keeps its subscribers until then.
    func forgetSource(at index: Int)

    var label: String { get }
}

/// The subscriber in the queue of one of several sources.
final class SourceSubscriber<Observer: SourceObserver>: FutureSubscriber, @unchecked Sendable {
    // Unchecked: only the weak reference changes, and the runtime does that.
    private let observer: Observer
    /// Weak, because the source's queue owns this.
    private(set) weak var source: FutureState?
    let index: Int

    init(of observer: Observer, in source: FutureState, at index: Int) {
        self.observer = observer
        self.source = source
        self.index = index
        super.init()
    }

    /// What the observer waits for, unless the source has been freed.
    var dependency: FutureState.Dependency? {
        source.map { FutureState.Dependency(subscriber: self, source: $0) }
    }

    override func notify(by source: FutureState) { observer.sourceCompleted(source, at: index) }

    override func sourceDeinitialized(_ source: UnsafeRawPointer) {
        observer.forgetSource(at: index)
    }

    override var label: String { observer.label }
}

/// The owner of an iteration; the futures' queues refer to its `CompletionQueue` only.
final class CompletionIteration {
    private let queue: CompletionQueue

    init(over sources: [FutureState]) { queue = CompletionQueue(of: sources) }

    deinit { queue.leave() }

    nonisolated(nonsending) func next() async -> CompletionQueue.Completed? {
        while !Task.isCancelled {
            let (completed, signal) = queue.next()
            guard let signal else { return completed }
            // Throws if the task is cancelled, which the loop finds.
            try? await signal.waitInTask(cancelsIfLast: false)
        }
        queue.leave()
        return nil
    }
}

/// The sources that have completed, in order, and the subscribers of the others.
final class CompletionQueue: SourceObserver {
    /// A source that has completed, and its index.
    typealias Completed = (index: Int, source: FutureState)

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

    /// The first source that has completed; otherwise what completes with the next one, if any.
    func next() -> (completed: Completed?, signal: FutureState?) {
        contents.withLock { contents in
            if let completed = contents.completed.popFirst() { return (completed, nil) }
            if contents.missing == 0 { return (nil, nil) }
            let signal = CompletionSignal()
            contents.signal = signal
            return (nil, signal)
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
        let left = contents.withLock { exchange(&$0, with: Contents()) }
        for case let subscriber? in left.subscribers { subscriber.source?.unsubscribe(subscriber) }
    }

    func forgetSource(at index: Int) {
        contents.withLock { if !$0.subscribers.isEmpty { $0.subscribers[index] = nil } }
    }

    var label: String { "an iteration of completions" }
}

/// Completes when the next source has.
private final class CompletionSignal: FutureState, @unchecked Sendable {
    // Unchecked: it has no state of its own.
    override var label: String { "the next completion" }
}
