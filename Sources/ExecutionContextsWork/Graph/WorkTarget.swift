internal import ExecutionContexts

/// A request target in a graph: it finds the work in flight, or begins it.
///
/// It owns the body, and lives as long as the work can be requested. Work in flight does not retain
/// it.
@usableFromInline
class WorkTarget: @unchecked Sendable {
    // Unchecked: immutable here; what subclasses change is accessed in graph jobs only.
    final let graph: WorkGraph

    init(_ graph: WorkGraph) { self.graph = graph }

    var name: String { fatalError("A subclass of WorkTarget overrides name.") }

    /// The work in flight, or new work; in a graph job.
    func node() -> FlightNode { fatalError("A subclass of WorkTarget overrides node().") }

    /// Begins the work; in a graph job.
    func begin(_ node: FlightNode) {}
}

/// The target of work without a key.
@usableFromInline
final class SoleTarget: WorkTarget, @unchecked Sendable {
    // Unchecked like the base: `body` is taken out by `deinit` only.
    private let entry: SoleEntry
    private var body: Body?

    /// Begins the work of the node.
    @usableFromInline
    typealias Body = @Sendable (FlightNode) -> Void

    @usableFromInline
    init(_ graph: WorkGraph, _ name: String, _ body: @escaping Body) {
        entry = SoleEntry(name)
        self.body = body
        super.init(graph)
    }

    /// The captures may be the last reference to other work, whose body has captures, and so on.
    deinit { Freeing.free(body.take()) }

    override var name: String { entry.name }

    override func node() -> FlightNode {
        if let current = unsafe entry.current { return current }
        let node = SoleNode(for: self, at: entry)
        unsafe entry.current = node
        return node
    }

    override func begin(_ node: FlightNode) { body?(node) }
}

/// Refers to work without a key while it is in flight.
private final class SoleEntry: @unchecked Sendable {
    // Unchecked: `current` is accessed in graph jobs only. Exclusivity is unchecked as in
    // `WorkNode`: the node outlives its removal.
    @exclusivity(unchecked) var current: FlightNode?
    let name: String

    init(_ name: String) { self.name = name }
}

/// Work without a key, in flight.
private final class SoleNode: FlightNode, @unchecked Sendable {
    // Unchecked like the base: immutable.
    private let entry: SoleEntry

    init(for target: SoleTarget, at entry: SoleEntry) {
        self.entry = entry
        super.init(for: target)
    }

    override var name: String { entry.name }

    override func leaveEntry() { if unsafe entry.current === self { unsafe entry.current = nil } }
}
