internal import ExecutionContexts

/// A request target in a graph: it finds the work in flight, or begins it.
///
/// It owns the body, and lives as long as the work can be requested. Work in flight keeps its entry
/// and not its target.
class WorkTarget<Value: Sendable>: @unchecked Sendable {
    // Unchecked: immutable here; what subclasses change is accessed on the graph's context only.
    final let graph: WorkGraph

    init(_ graph: WorkGraph) { self.graph = graph }

    var name: String { fatalError("A subclass of WorkTarget overrides name.") }

    /// The work in flight, or new work; in a graph job.
    func node() -> FlightNode<Value> { fatalError("A subclass of WorkTarget overrides node().") }

    /// Begins the work; in a graph job.
    func begin(_ flight: Flight<Value>) {}
}

/// Where work in flight is found, without the body that began it.
class WorkEntry<Value: Sendable>: @unchecked Sendable {
    // Unchecked: what subclasses change is accessed on the graph's context only.
    var name: String { fatalError("A subclass of WorkEntry overrides name.") }

    /// Removes a work item that has ended, so that the next subscriber begins it anew; in a graph
    /// job.
    func remove(_ node: FlightNode<Value>) {}
}

/// The target of work without a key.
final class SoleTarget<Value: Sendable>: WorkTarget<Value>, @unchecked Sendable {
    // Unchecked like the base: immutable.
    private let entry: SoleEntry<Value>
    private let body: @Sendable (Flight<Value>) -> Void

    init(_ graph: WorkGraph, _ name: String, _ body: @escaping @Sendable (Flight<Value>) -> Void) {
        entry = SoleEntry(name)
        self.body = body
        super.init(graph)
    }

    override var name: String { entry.name }

    override func node() -> FlightNode<Value> {
        if let current = entry.current { return current }
        let node = FlightNode(for: self, at: entry)
        entry.current = node
        return node
    }

    override func begin(_ flight: Flight<Value>) { body(flight) }
}

/// The entry of work without a key.
private final class SoleEntry<Value: Sendable>: WorkEntry<Value>, @unchecked Sendable {
    // Unchecked: `current` is accessed on the graph's context only.
    var current: FlightNode<Value>?
    private let ownName: String

    init(_ name: String) { ownName = name }

    override var name: String { ownName }

    override func remove(_ node: FlightNode<Value>) { if current === node { current = nil } }
}
