extension Async {
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

    /// Returns a future of all the outcomes, in the order of the arguments; an error is one of
    /// them.
    ///
    /// It waits for each source, so unlike ``all(_:)`` it does not end with the first error.
    /// Cancelling it leaves the sources (law 26). Without elements it completes at once, with an
    /// empty array.
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
    /// of the value, so this fails only if it is cancelled or has no elements. It then leaves the
    /// other sources; each is cancelled if it has no other interested subscriber (law 26).
    @inlinable
    public static func firstCompletion(of asyncs: some Sequence<Async>) -> Async<Completion> {
        let states = asyncs.map(\.state)
        guard !states.isEmpty else {
            return Async<Completion>(error: AsyncError.nothingToWaitFor)
        }
        return Async<Completion>(
            state: Combinator(.first, of: states) { source, combinator in
                combinator.complete(
                    with: Completion(
                        index: Combinator.winner(of: combinator), outcome: source.outcome()))
            })
    }

    /// Returns an `Async` with the same outcome that completes after `body`, which gets the outcome
    /// on `context`.
    ///
    /// So the callbacks of the result come after `body` has returned, whichever context they are
    /// called on; callbacks of one `Async` on several contexts have no order (law 25). If the
    /// result is cancelled before `body` begins, `body` is not called.
    ///
    /// ```swift
    /// dataSource.getBirds()
    ///     .andThen(on: database) { outcome in print("stored before the screen shows it") }
    ///     .onSuccess(on: .main) { birds in print("\(birds.count) birds") }
    /// ```
    @_disfavoredOverload
    @inlinable
    public func andThen(
        on context: some ExecutionContext = .immediate,
        fileID: StaticString = #fileID, line: UInt = #line,
        _ body: @escaping @Sendable (Outcome) -> Void
    ) -> Async {
        derived(.andThen, on: context, fileID, line) { source, derived in
            let outcome: Outcome = source.outcome()
            body(outcome)
            derived.complete(with: outcome)
        }
    }
}
