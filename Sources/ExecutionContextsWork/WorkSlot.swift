internal import ExecutionContexts

/// What one work is asked for by, in a graph: it finds what is under way, or begins it.
///
/// It has the body, and lives as long as it can be asked for. A work under way keeps its place and
/// not this.
class WorkSlot<Value: Sendable>: @unchecked Sendable {
    // Unchecked: nothing changes here; what does in the kinds of slots is touched on the graph's
    // context only.
    final let graph: WorkGraph

    init(_ graph: WorkGraph) { self.graph = graph }

    var name: String { fatalError("Each kind of slot has a name.") }

    /// The work under way, or a new one; in a turn.
    func node() -> FlightNode<Value> { fatalError("Each kind of slot has a work.") }

    /// Begins the work; in a turn.
    func begin(_ flight: Flight<Value>) {}
}

/// Where a work under way is found, without the body that began it.
class WorkPlace<Value: Sendable>: @unchecked Sendable {
    // Unchecked: what changes in the kinds of places is touched on the graph's context only.
    var name: String { fatalError("Each kind of place has a name.") }

    /// Forgets a work that has ended, so that the next subscriber begins it anew; in a turn.
    func vacate(_ node: FlightNode<Value>) {}
}

/// The slot of a work without a key.
final class SoleSlot<Value: Sendable>: WorkSlot<Value>, @unchecked Sendable {
    // Unchecked like the base: nothing changes here.
    private let place: SolePlace<Value>
    private let body: @Sendable (Flight<Value>) -> Void

    init(_ graph: WorkGraph, _ name: String, _ body: @escaping @Sendable (Flight<Value>) -> Void) {
        place = SolePlace(name)
        self.body = body
        super.init(graph)
    }

    override var name: String { place.name }

    override func node() -> FlightNode<Value> {
        if let current = place.current { return current }
        let node = FlightNode(for: self, at: place)
        place.current = node
        return node
    }

    override func begin(_ flight: Flight<Value>) { body(flight) }
}

/// The place of a work without a key.
private final class SolePlace<Value: Sendable>: WorkPlace<Value>, @unchecked Sendable {
    // Unchecked: `current` is touched on the graph's context only.
    var current: FlightNode<Value>?
    private let ownName: String

    init(_ name: String) { ownName = name }

    override var name: String { ownName }

    override func vacate(_ node: FlightNode<Value>) { if current === node { current = nil } }
}
