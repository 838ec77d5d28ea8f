public import ExecutionContexts

/// Work by key that is performed once for all callers that want it at the same time.
///
/// ```swift
/// let context = GlobalContext().serial(named: "sizes")
/// let sizes = SingleFlight<String, Int>(name: "size", on: context) { path in
///     GlobalContext().submit { path.utf8.count }
/// }
/// let size = sizes["birds/wren"].value()
/// ```
///
/// A body with a second parameter receives the ``Flight``: it can report progress, and end the work
/// itself.
///
/// - The first subscriber for a key begins its work, on the context. Later ones join while it is in
///   flight (law 31).
/// - Each subscriber receives the end once, unless it has left. When the last subscriber leaves,
///   the work is cancelled, once.
/// - The key is free before a subscriber is notified: a subscription after the end begins the work
///   anew.
/// - Work that ends while it begins is shared with no other subscriber: the next one begins it
///   anew.
/// - Any thread may use it.
///
/// It is not a cache: it keeps no value after the end. Query a cache first, and fill it where the
/// work succeeds.
public struct SingleFlight<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    /// The graph that the work items are part of.
    public var graph: WorkGraph { flights.graph }

    private let flights: KeyedFlights<Key, Value>

    /// Creates a single flight in a graph that it may share; `body` begins an item, on the graph's
    /// context.
    public init(
        name: String = "work", in graph: WorkGraph,
        _ body: @escaping @Sendable (_ key: Key, _ flight: Flight<Value>) -> Void
    ) {
        flights = KeyedFlights(name, in: graph, body)
    }

    /// Creates a single flight in a graph of its own on `context`; `body` begins an item there.
    public init(
        name: String = "work", on context: some SerialContext,
        _ body: @escaping @Sendable (_ key: Key, _ flight: Flight<Value>) -> Void
    ) {
        self.init(name: name, in: WorkGraph(on: context), body)
    }

    /// Creates a single flight in a graph that it may share; an item ends as the `Async` that
    /// `body` returns.
    ///
    /// An item that ends first cancels the `Async`.
    public init(
        name: String = "work", in graph: WorkGraph,
        _ body: @escaping @Sendable (_ key: Key) -> Async<Value>
    ) {
        self.init(name: name, in: graph) { key, flight in flight.follow(body(key)) }
    }

    /// Creates a single flight in a graph of its own on `context`; an item ends as the `Async` that
    /// `body` returns.
    ///
    /// An item that ends first cancels the `Async`.
    public init(
        name: String = "work", on context: some SerialContext,
        _ body: @escaping @Sendable (_ key: Key) -> Async<Value>
    ) {
        self.init(name: name, in: WorkGraph(on: context), body)
    }

    /// The work for `key`, to subscribe to or to depend on. The subscript begins nothing.
    public subscript(key: Key) -> SharedWork<Value> {
        SharedWork(target: KeyedTarget(key, flights))
    }
}

/// The body of a `SingleFlight`, and its items in flight.
private final class KeyedFlights<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    let registry: KeyedRegistry<Key, Value>
    let graph: WorkGraph
    let body: @Sendable (Key, Flight<Value>) -> Void

    init(
        _ name: String, in graph: WorkGraph,
        _ body: @escaping @Sendable (Key, Flight<Value>) -> Void
    ) {
        registry = KeyedRegistry(name)
        self.graph = graph
        self.body = body
    }
}

/// The items in flight, by key.
private final class KeyedRegistry<Key: Hashable & Sendable, Value: Sendable>: @unchecked Sendable {
    // Unchecked: `current` is accessed on the graph's context only.
    var current: [Key: FlightNode<Value>] = [:]
    let name: String

    init(_ name: String) { self.name = name }
}

/// The target of one key.
private final class KeyedTarget<Key: Hashable & Sendable, Value: Sendable>: WorkTarget<Value>,
    @unchecked Sendable
{
    // Unchecked like the base: immutable.
    private let key: Key
    private let flights: KeyedFlights<Key, Value>

    init(_ key: Key, _ flights: KeyedFlights<Key, Value>) {
        self.key = key
        self.flights = flights
        super.init(flights.graph)
    }

    override var name: String { "\(flights.registry.name)[\(key)]" }

    override func node() -> FlightNode<Value> {
        if let node = flights.registry.current[key] { return node }
        let node = FlightNode(for: self, at: KeyedEntry(key, flights.registry))
        flights.registry.current[key] = node
        return node
    }

    override func begin(_ flight: Flight<Value>) { flights.body(key, flight) }
}

/// The entry of one key.
private final class KeyedEntry<Key: Hashable & Sendable, Value: Sendable>: WorkEntry<Value>,
    @unchecked Sendable
{
    // Unchecked like the base: immutable.
    private let key: Key
    private let registry: KeyedRegistry<Key, Value>

    init(_ key: Key, _ registry: KeyedRegistry<Key, Value>) {
        self.key = key
        self.registry = registry
    }

    override var name: String { "\(registry.name)[\(key)]" }

    override func remove(_ node: FlightNode<Value>) {
        if registry.current[key] === node { registry.current[key] = nil }
    }
}
