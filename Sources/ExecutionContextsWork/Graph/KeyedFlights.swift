internal import ExecutionContexts

/// The body of a `SingleFlight`, and its items in flight.
@usableFromInline
final class KeyedFlights<Key: Hashable & Sendable>: @unchecked Sendable {
    // Unchecked: `body` is taken out by `deinit` only.
    fileprivate let registry: KeyedRegistry
    let graph: WorkGraph
    private var body: Body?

    /// Begins the work of the node's key.
    @usableFromInline
    typealias Body = @Sendable (Key, FlightNode) -> Void

    @usableFromInline
    init(_ name: String, in graph: WorkGraph, _ body: @escaping Body) {
        registry = KeyedRegistry(name)
        self.graph = graph
        self.body = body
    }

    /// The captures may be the last reference to other work, whose body has captures, and so on.
    deinit { Freeing.free(body.take()) }

    fileprivate func begin(_ key: Key, _ node: FlightNode) { body?(key, node) }
}

/// The target of one key.
@usableFromInline
final class KeyedTarget<Key: Hashable & Sendable>: WorkTarget, @unchecked Sendable {
    // Unchecked like the base: immutable.
    private let key: Key
    private let flights: KeyedFlights<Key>

    @usableFromInline
    init(_ key: Key, _ flights: KeyedFlights<Key>) {
        self.key = key
        self.flights = flights
        super.init(flights.graph)
    }

    override var name: String { "\(flights.registry.name)[\(key)]" }

    override func node() -> FlightNode {
        let hash = key.hashValue
        var next = flights.registry.first(hash)
        while let item = next {
            // Safe: only this method adds to the registry of these flights, and only this type.
            let node = unsafe unsafeDowncast(item, to: KeyedNode<Key>.self)
            if node.key == key { return node }
            next = unsafe item.next
        }
        let node = KeyedNode(for: self, key, hash, in: flights.registry)
        flights.registry.add(node)
        return node
    }

    override func begin(_ node: FlightNode) { flights.begin(key, node) }
}

/// The items in flight, by the hash value of their key.
///
/// Not a dictionary by key: it would be generic, and its types are looked up at every access.
private final class KeyedRegistry: @unchecked Sendable {
    // Unchecked: all but the name is accessed in graph jobs only. Exclusivity is unchecked
    // as in `WorkNode`: the keys are numbers, and an item outlives its removal.
    let name: String
    /// For each hash value the item that was added last, and through it the others.
    @exclusivity(unchecked) private var items: [Int: KeyedItem] = [:]

    init(_ name: String) { self.name = name }

    func first(_ hash: Int) -> KeyedItem? { unsafe items[hash] }

    func add(_ item: KeyedItem) { unsafe item.next = items.updateValue(item, forKey: item.hash) }

    func remove(_ item: KeyedItem) {
        let rest = unsafe item.next.take()
        guard var earlier = unsafe items[item.hash], earlier !== item else {
            return unsafe items[item.hash] = rest
        }
        while let next = unsafe earlier.next, next !== item { earlier = next }
        unsafe earlier.next = rest
    }
}

/// Work by key in flight, without the type of its key.
private class KeyedItem: FlightNode, @unchecked Sendable {
    // Unchecked like the base: `next` is accessed in graph jobs only.
    final let hash: Int
    /// The next item whose key has the same hash value.
    @exclusivity(unchecked) final var next: KeyedItem?
    final let registry: KeyedRegistry

    init(for target: WorkTarget, _ hash: Int, in registry: KeyedRegistry) {
        self.hash = hash
        self.registry = registry
        super.init(for: target)
    }

    final override func leaveEntry() { registry.remove(self) }
}

private final class KeyedNode<Key: Hashable & Sendable>: KeyedItem, @unchecked Sendable {
    // Unchecked like the base: immutable.
    let key: Key

    init(for target: WorkTarget, _ key: Key, _ hash: Int, in registry: KeyedRegistry) {
        self.key = key
        super.init(for: target, hash, in: registry)
    }

    override var name: String { "\(registry.name)[\(key)]" }
}
