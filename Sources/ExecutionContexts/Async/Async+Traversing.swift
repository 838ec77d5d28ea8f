extension Async {
    /// Returns a future of the values that `body` provides for the elements, in order, at most
    /// `limit` at a time.
    ///
    /// ```swift
    /// let images = Async.traverse(birds, atMost: 4, on: network) { bird in loader.image(of: bird) }
    /// ```
    ///
    /// Elements are taken from the sequence one at a time, on `context`, when the limit allows, so
    /// the sequence may be long. The first error is the outcome: no further element is started, and
    /// the pending ones are left; each is cancelled if it has no other interested subscriber (law
    /// 26).
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
        let iterator = ElementIterator(elements, Deadline.keeping(body))
        let start = Start(traversal, context, (fileID, line)) { try iterator.next()?.state }
        start.again()
        return Async<[Value]>(state: traversal)
    }
}

/// Starts the next sources of a traversal, on its context.
private struct Start<Context: ExecutionContext>: Sendable {
    private let traversal: Traversal
    private let context: Context
    private let location: (fileID: StaticString, line: UInt)
    private let next: @Sendable () throws -> FutureState?

    init(
        _ traversal: Traversal, _ context: Context,
        _ location: (fileID: StaticString, line: UInt),
        _ next: @escaping @Sendable () throws -> FutureState?
    ) {
        self.traversal = traversal
        self.context = context
        self.location = location
        self.next = next
    }

    func again() {
        traversal.hop(to: context, from: location) { traversal.start(next, again: { again() }) }
    }
}

/// The iterator of the elements, and the user's function for them.
private final class ElementIterator<Elements: Sequence, Value: Sendable>: @unchecked Sendable {
    // Unchecked: one thread at a time calls `next`, and each call happens after the one before.
    private var iterator: Elements.Iterator
    private let body: @Sendable (Elements.Element) throws -> Async<Value>

    init(
        _ elements: Elements, _ body: @escaping @Sendable (Elements.Element) throws -> Async<Value>
    ) {
        iterator = elements.makeIterator()
        self.body = body
    }

    func next() throws -> Async<Value>? { try iterator.next().map(body) }
}
