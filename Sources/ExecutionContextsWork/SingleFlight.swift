public import ExecutionContexts

/// Work by key that is done once for all who want it at the same time.
///
/// ```swift
/// let sizes = SingleFlight<String, Int>("size", on: .global.serial("sizes")) { path in
///     GlobalContext().submit { path.utf8.count }
/// }
/// let size = sizes["birds/wren"].value()
/// ```
///
/// A body with a second parameter is given the ``Flight``: it can tell of progress, and say itself
/// how it ends.
///
/// - The first who asks for a key begins its work, on the context; who asks while it is under way
///   joins (law 31).
/// - Each subscriber is told the end once, unless it left. When the last one leaves the work is
///   cancelled, once.
/// - The key is free before anybody is told: asking again after the end begins anew.
/// - Work that ends while it begins was under way for nobody else: who asks behind the first begins
///   it anew.
/// - Threads: all of it may be used from any.
///
/// It is not a cache: it keeps no value after the end. Ask a cache first, and fill it where the
/// work succeeds.
public struct SingleFlight<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    /// The graph that the works are part of.
    public var graph: WorkGraph { flights.graph }

    private let flights: KeyedFlights<Key, Value>

    /// Works in a graph that they share with others; `body` begins one, on the graph's context.
    public init(
        _ name: String = "work", in graph: WorkGraph,
        _ body: @escaping @Sendable (_ key: Key, _ flight: Flight<Value>) -> Void
    ) {
        flights = KeyedFlights(name, in: graph, body)
    }

    /// Works in a graph of their own; `body` begins one, on `context`.
    public init(
        _ name: String = "work", on context: some SerialContext,
        _ body: @escaping @Sendable (_ key: Key, _ flight: Flight<Value>) -> Void
    ) {
        self.init(name, in: WorkGraph(on: context), body)
    }

    /// Works in a graph that they share with others; each ends as the `Async` does that `body`
    /// gives, and cancels it.
    public init(
        _ name: String = "work", in graph: WorkGraph, _ body: @escaping @Sendable (_ key: Key) -> Async<Value>
    ) {
        self.init(name, in: graph) { key, flight in flight.follow(body(key)) }
    }

    /// Works in a graph of their own; each ends as the `Async` does that `body` gives, and cancels
    /// it.
    public init(
        _ name: String = "work", on context: some SerialContext,
        _ body: @escaping @Sendable (_ key: Key) -> Async<Value>
    ) {
        self.init(name, in: WorkGraph(on: context), body)
    }

    /// The work for `key`, to subscribe to or to depend on. Nothing begins by asking for it.
    public subscript(key: Key) -> SharedWork<Value> { SharedWork(slot: KeyedSlot(key, flights)) }
}

/// What begins the works of a `SingleFlight`, and where those under way are found.
private final class KeyedFlights<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    let book: KeyedBook<Key, Value>
    let graph: WorkGraph
    let body: @Sendable (Key, Flight<Value>) -> Void

    init(_ name: String, in graph: WorkGraph, _ body: @escaping @Sendable (Key, Flight<Value>) -> Void) {
        book = KeyedBook(name)
        self.graph = graph
        self.body = body
    }
}

/// The works under way, by key.
private final class KeyedBook<Key: Hashable & Sendable, Value: Sendable>: @unchecked Sendable {
    // Unchecked: `current` is touched on the graph's context only.
    var current: [Key: FlightNode<Value>] = [:]
    let name: String

    init(_ name: String) { self.name = name }
}

/// The slot of one key.
private final class KeyedSlot<Key: Hashable & Sendable, Value: Sendable>: WorkSlot<Value>, @unchecked Sendable
{
    // Unchecked like the base: nothing changes here.
    private let key: Key
    private let flights: KeyedFlights<Key, Value>

    init(_ key: Key, _ flights: KeyedFlights<Key, Value>) {
        self.key = key
        self.flights = flights
        super.init(flights.graph)
    }

    override var name: String { "\(flights.book.name)[\(key)]" }

    override func node() -> FlightNode<Value> {
        if let node = flights.book.current[key] { return node }
        let node = FlightNode(for: self, at: KeyedPlace(key, flights.book))
        flights.book.current[key] = node
        return node
    }

    override func begin(_ flight: Flight<Value>) { flights.body(key, flight) }
}

/// The place of one key's work.
private final class KeyedPlace<Key: Hashable & Sendable, Value: Sendable>: WorkPlace<Value>,
    @unchecked Sendable
{
    // Unchecked like the base: nothing changes here.
    private let key: Key
    private let book: KeyedBook<Key, Value>

    init(_ key: Key, _ book: KeyedBook<Key, Value>) {
        self.key = key
        self.book = book
    }

    override var name: String { "\(book.name)[\(key)]" }

    override func vacate(_ node: FlightNode<Value>) {
        if book.current[key] === node { book.current[key] = nil }
    }
}
