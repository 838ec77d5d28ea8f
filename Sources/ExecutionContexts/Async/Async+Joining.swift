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

    /// Returns a future of both values, or of the first error, without waiting for the other
    /// source.
    @inlinable
    public func zip<Other: Sendable>(_ other: Async<Other>) -> Async<(Value, Other)> {
        Async<(Value, Other)>(
            state: Combinator(.all, of: [state, other.state]) { _, combinator in
                guard let states = Combinator.sources(of: combinator) else { return }
                combinator.complete(with: (states[0].load() as Value, states[1].load() as Other))
            })
    }

    /// Returns a future of all three values, or of the first error, without waiting for the other
    /// sources.
    @inlinable
    public func zip<Second: Sendable, Third: Sendable>(
        _ second: Async<Second>, _ third: Async<Third>
    ) -> Async<(Value, Second, Third)> {
        Async<(Value, Second, Third)>(
            state: Combinator(.all, of: [state, second.state, third.state]) { _, combinator in
                guard let states = Combinator.sources(of: combinator) else { return }
                combinator.complete(
                    with: (
                        states[0].load() as Value, states[1].load() as Second,
                        states[2].load() as Third
                    ))
            })
    }
}
