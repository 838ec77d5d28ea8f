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
        decided(.first, of: asyncs)
    }

    /// Returns a future of the first value; of the last error, if all of them fail.
    ///
    /// It then leaves the other sources; each is cancelled if it has no other interested subscriber
    /// (law 26). Without elements it completes at once, with ``AsyncError/nothingToWaitFor``.
    @inlinable
    public static func firstSuccess(of asyncs: some Sequence<Async>) -> Async {
        decided(.firstSuccess, of: asyncs)
    }

    @inlinable
    static func decided(_ goal: Combinator.Goal, of asyncs: some Sequence<Async>) -> Async {
        let states = asyncs.map(\.state)
        guard !states.isEmpty else { return Async(error: AsyncError.nothingToWaitFor) }
        return Async(state: Combinator(goal, of: states, FutureState.copy(Value.self)))
    }

    /// Returns a future of all the values, in the order of the arguments, or of the first error.
    ///
    /// ```swift
    /// let page = dataSource.getBirds().zip(database.submit { 7 }, Async { "title" })
    /// page.onSuccess(on: .main) { birds, count, title in print(birds, count, title) }
    /// ```
    ///
    /// The types of the values may differ. On an error it leaves the other sources, like
    /// ``all(_:)``.
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
}

/// A future state of several sources: it completes when all of them have, or with the first.
@usableFromInline
final class Combinator: FutureState, SourceObserver, @unchecked Sendable {
    // Unchecked: mutable state is atomic or guarded.

    @usableFromInline
    enum Goal: UInt8 {
        /// Completes when all sources have a value, or with the first error.
        case all
        /// Completes like the first source that completes.
        case first
        /// Completes with the first value, or with the last error.
        case firstSuccess
        /// Completes when all sources have completed.
        case settled

        /// Whether the outcome is made of those of the sources.
        var collects: Bool { self == .all || self == .settled }
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
        self.sources = Guarded(
            Sources(ended: goal.collects ? Array(repeating: nil, count: sources.count) : []))
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

    /// The sources of a combinator that needs all, in order. Nil if it was cancelled.
    ///
    /// Called by the propagation, with its own state.
    @usableFromInline
    static func sources(of state: FutureState) -> [FutureState]? {
        let combinator = unsafe unsafeDowncast(state, to: Combinator.self)
        let ended = combinator.sources.withLock { $0.ended }.compactMap { $0 }
        return ended.count == combinator.size ? ended : nil
    }

    /// The index of the source that decided; called by the propagation, with its own state.
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
        // Acquiring and releasing: the deciding thread sees the outcomes of all sources that
        // completed before.
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

    /// Whether no source has failed.
    ///
    /// The thread of a source that failed may not have decided yet when the last source completes;
    /// then it must decide, and the last one must not.
    private var hasAllValues: Bool { sources.withLock { $0.ended.allSatisfy { $0 != nil } } }

    override func didComplete() {
        let sources = sources.withLock { sources in
            var taken = Sources(ended: [])
            swap(&sources, &taken)
            return taken
        }
        // Relaxed: if all sources have completed, no subscriber is queued; otherwise unsubscribing
        // is harmless.
        if missing.load(ordering: .relaxed) > 0 {
            for case let subscriber? in sources.subscribers {
                subscriber.source?.unsubscribe(subscriber)
            }
        }
        if decision.make() { freePropagation() }
    }

    func forgetSource(at index: Int) {
        // Not the last reference: the queue of the source keeps its subscribers until it is freed.
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
