public import ExecutionContexts

/// Work by key, performed once for all callers that request it at the same time.
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
/// It is not a cache: it keeps no value after the end. Query a cache first, and fill it when the
/// work succeeds.
public struct SingleFlight<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    /// The graph that the work items are part of.
    public var graph: WorkGraph { flights.graph }

    @usableFromInline let flights: KeyedFlights<Key>

    @usableFromInline
    init(_ flights: KeyedFlights<Key>) { self.flights = flights }

    /// Creates a single flight in a graph that it may share; `body` begins an item, on the graph's
    /// context.
    @inlinable
    public init(
        name: String = "work", in graph: WorkGraph,
        _ body: @escaping @Sendable (_ key: Key, _ flight: Flight<Value>) -> Void
    ) {
        self.init(KeyedFlights(name, in: graph) { key, node in body(key, Flight(node)) })
    }

    /// Creates a single flight in a new graph on `context`; `body` begins an item there.
    @inlinable
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
    @inlinable
    public init(
        name: String = "work", in graph: WorkGraph,
        _ body: @escaping @Sendable (_ key: Key) -> Async<Value>
    ) {
        self.init(name: name, in: graph) { key, flight in flight.follow(body(key)) }
    }

    /// Creates a single flight in a new graph on `context`; an item ends as the `Async` that `body`
    /// returns.
    ///
    /// An item that ends first cancels the `Async`.
    @inlinable
    public init(
        name: String = "work", on context: some SerialContext,
        _ body: @escaping @Sendable (_ key: Key) -> Async<Value>
    ) {
        self.init(name: name, in: WorkGraph(on: context), body)
    }

    /// The work for `key`, to subscribe to or to depend on. The subscript begins nothing.
    @inlinable
    public subscript(key: Key) -> SharedWork<Value> {
        SharedWork(target: KeyedTarget(key, flights))
    }
}
