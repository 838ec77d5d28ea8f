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
