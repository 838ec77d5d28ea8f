extension Async {
    /// All the values, in the order of the arguments; or the first error, and then the others are not waited for.
    ///
    /// When it ends early it leaves the others, which are cancelled if nobody else wants them (law 26). Of no elements it is
    /// an empty array, at once.
    @inlinable
    public static func all(_ asyncs: some Sequence<Async>) -> Async<[Value]> {
        let cells = asyncs.map(\.cell)
        guard !cells.isEmpty else { return Async<[Value]>(.success([])) }
        return Async<[Value]>(
            cell: Joint(.all, of: cells) { _, joint in
                guard let cells = Joint.sources(of: joint) else { return }
                joint.end(with: cells.map { $0.load() as Value })
            })
    }

    /// The outcome of the one that ends first, be it a value or an error.
    ///
    /// It leaves the others, which are cancelled if nobody else wants them (law 26). Of no elements it is an error, at
    /// once.
    @inlinable
    public static func first(of asyncs: some Sequence<Async>) -> Async {
        decided(.first, of: asyncs)
    }

    /// The first value; or the last error, if all of them fail.
    ///
    /// It leaves the others, which are cancelled if nobody else wants them (law 26). Of no elements it is an error, at
    /// once.
    @inlinable
    public static func firstSuccess(of asyncs: some Sequence<Async>) -> Async {
        decided(.firstSuccess, of: asyncs)
    }

    @inlinable
    static func decided(_ goal: Joint.Goal, of asyncs: some Sequence<Async>) -> Async {
        let cells = asyncs.map(\.cell)
        guard !cells.isEmpty else { return Async(error: AsyncError.nothingToWaitFor) }
        return Async(
            cell: Joint(goal, of: cells) { source, joint in joint.end(like: source, Value.self) })
    }

    /// Both values; or the first error, and then the other one is not waited for.
    @inlinable
    public func zip<Other: Sendable>(_ other: Async<Other>) -> Async<(Value, Other)> {
        Async<(Value, Other)>(
            cell: Joint(.all, of: [cell, other.cell]) { _, joint in
                guard let cells = Joint.sources(of: joint) else { return }
                joint.end(with: (cells[0].load() as Value, cells[1].load() as Other))
            })
    }

    /// All three values; or the first error, and then the others are not waited for.
    @inlinable
    public func zip<Second: Sendable, Third: Sendable>(
        _ second: Async<Second>, _ third: Async<Third>
    ) -> Async<(Value, Second, Third)> {
        Async<(Value, Second, Third)>(
            cell: Joint(.all, of: [cell, second.cell, third.cell]) { _, joint in
                guard let cells = Joint.sources(of: joint) else { return }
                joint.end(
                    with: (
                        cells[0].load() as Value, cells[1].load() as Second, cells[2].load() as Third
                    ))
            })
    }
}
