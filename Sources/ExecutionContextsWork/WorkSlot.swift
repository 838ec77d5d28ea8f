internal import ExecutionContexts

/// The place of one work in a graph: who asks there finds what is under way, or begins it.
class WorkSlot<Value: Sendable>: @unchecked Sendable {
    // Unchecked: nothing changes here; what does in the kinds of slots is touched on the graph's context only.
    final let graph: WorkGraph

    init(_ graph: WorkGraph) { self.graph = graph }

    var name: String { fatalError("Each kind of slot has a name.") }

    /// The work under way, or a new one; in a turn.
    func node() -> FlightNode<Value> { fatalError("Each kind of slot has a work.") }

    /// Lets go of a work that has ended, so that the next who asks begins anew; in a turn.
    func vacate(_ node: FlightNode<Value>) {}

    /// Begins the work; in a turn.
    func begin(_ flight: Flight<Value>) {}
}

/// The slot of a work without a key.
final class SoleSlot<Value: Sendable>: WorkSlot<Value>, @unchecked Sendable {
    // Unchecked: `current` is touched on the graph's context only.
    private var current: FlightNode<Value>?
    private let ownName: String
    private let body: @Sendable (Flight<Value>) -> Void

    init(_ graph: WorkGraph, _ name: String, _ body: @escaping @Sendable (Flight<Value>) -> Void) {
        ownName = name
        self.body = body
        super.init(graph)
    }

    override var name: String { ownName }

    override func node() -> FlightNode<Value> {
        if let current { return current }
        let node = FlightNode(for: self)
        current = node
        return node
    }

    override func vacate(_ node: FlightNode<Value>) { if current === node { current = nil } }

    override func begin(_ flight: Flight<Value>) { body(flight) }
}
