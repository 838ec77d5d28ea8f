extension Async {
    /// The values that `body` brings for the elements, in their order, with at most `limit` under way at a time.
    ///
    /// ```swift
    /// let images = Async.traverse(birds, atMost: 4, on: network) { bird in loader.image(of: bird) }
    /// ```
    ///
    /// Elements are taken when there is room for their work, one at a time on `context`, so the sequence may be long. The
    /// first error ends it: nothing is started any more, and what is under way is left, and cancelled if nobody else
    /// wants it (law 26).
    public static func traverse<Elements: Sequence & Sendable>(
        _ elements: Elements, atMost limit: Int, on context: some ExecutionContext = .immediate,
        _ body: @escaping @Sendable (Elements.Element) throws -> Async
    ) -> Async<[Value]> {
        require(
            limit > 0, "A traversal with \(limit) at a time would never start anything. Allow at least 1.")
        let traversal = Traversal(atMost: limit, on: Hop.to(context))
        unsafe traversal.step = { _, traversal in
            traversal.end(with: Traversal.of(traversal).collected.map { $0.load() as Value })
        }
        let walk = Walk(elements, body)
        let start = Start(traversal, context) { try walk.next()?.cell }
        start.again()
        return Async<[Value]>(cell: traversal)
    }
}

/// How a traversal goes on: on its context, each time.
private struct Start<Context: ExecutionContext>: Sendable {
    private let traversal: Traversal
    private let context: Context
    private let next: @Sendable () throws -> AsyncCell?

    init(_ traversal: Traversal, _ context: Context, _ next: @escaping @Sendable () throws -> AsyncCell?) {
        self.traversal = traversal
        self.context = context
        self.next = next
    }

    func again() {
        traversal.hop(to: context) { traversal.start(next, again: { again() }) }
    }
}

/// A sequence on the way, and what is done with its elements.
private final class Walk<Elements: Sequence, Value: Sendable>: @unchecked Sendable {
    // Unchecked: the traversal calls `next` by one thread at a time, each after the one before.
    private var iterator: Elements.Iterator
    private let body: @Sendable (Elements.Element) throws -> Async<Value>

    init(_ elements: Elements, _ body: @escaping @Sendable (Elements.Element) throws -> Async<Value>) {
        iterator = elements.makeIterator()
        self.body = body
    }

    func next() throws -> Async<Value>? { try iterator.next().map(body) }
}
