internal import ExecutionContexts

/// Detects a cycle when a dependency is added, without a search through the whole graph.
///
/// Each node has a rank, no higher than that of any node that it needs. So no node needs one of a
/// lower rank, and a comparison of ranks rules out a cycle for most dependencies. Where ranks do
/// not decide:
///
/// 1. A search backward among nodes of equal rank stops after about the square root of the number
///    of dependencies.
/// 2. A search forward raises the rank of all nodes that it visits.
///
/// n dependencies take about n times the square root of n steps in all (Bender, Fineman, Gilbert,
/// Tarjan, "A New Approach to Incremental Cycle Detection and Related Problems", 2016).
extension WorkNode {
    /// Returns the nodes from `other` to this one along their dependencies, if `other` needs this
    /// one already; in a graph job.
    ///
    /// If it returns nil, the ranks allow this node to need `other`.
    final func cycle(through other: WorkNode) -> [WorkNode]? {
        if self === other { return [self] }
        if unsafe rank < other.rank { return nil }
        // Fast paths: most nodes are new and have no dependencies yet, or no dependents.
        if unsafe other.dependencies.isEmpty {
            unsafe other.rank = rank
            return nil
        }
        if unsafe dependentCount == 0 {
            unsafe rank = other.rank
            return nil
        }
        var search = CycleSearch(from: self, to: other)
        if let path = search.backward() { return path }
        if unsafe search.isComplete && rank == other.rank { return nil }
        return search.forward()
    }
}

private struct CycleSearch {
    private let start: WorkNode
    private let other: WorkNode
    /// The nodes that need the start and have its rank, each with the next node on its path to the
    /// start.
    private var before: [ObjectIdentifier: WorkNode]
    /// Whether `before` contains all of them.
    private(set) var isComplete = true

    init(from start: WorkNode, to other: WorkNode) {
        self.start = start
        self.other = other
        before = [ObjectIdentifier(start): start]
    }

    mutating func backward() -> [WorkNode]? {
        var stepsLeft = max(32, Int(Double(start.graph.dependencyCount).squareRoot()))
        var open = [start]
        while let node = open.popLast() {
            if unsafe node.dependentCount == 0 { continue }
            for subscriber in unsafe node.subscribers.entries {
                stepsLeft -= 1
                if stepsLeft < 0 {
                    isComplete = false
                    before = [ObjectIdentifier(start): start]
                    return nil
                }
                guard let dependent = subscriber?.dependent, unsafe dependent.rank == start.rank,
                    before[ObjectIdentifier(dependent)] == nil
                else { continue }
                before[ObjectIdentifier(dependent)] = node
                if dependent === other { return rest(from: dependent) }
                open.append(dependent)
            }
        }
        return nil
    }

    /// Raises the ranks of `other` and of its dependencies; if these include the start, returns the
    /// cycle.
    func forward() -> [WorkNode]? {
        var raised = unsafe [(node: other, rank: other.rank)]
        var cameFrom: [ObjectIdentifier: WorkNode] = [:]
        var open = [other]
        unsafe other.rank = isComplete ? start.rank : start.rank + 1
        while let node = open.popLast() {
            for dependency in unsafe node.dependencies.entries {
                guard let next = unsafe dependency?.node else { continue }
                if before[ObjectIdentifier(next)] != nil {
                    for (node, rank) in raised { unsafe node.rank = rank }
                    var path = [node]
                    while let last = path.last, last !== other {
                        path.append(cameFrom[ObjectIdentifier(last)]!)
                    }
                    return path.reversed() + rest(from: next)
                }
                if unsafe next.rank >= node.rank { continue }
                unsafe raised.append((next, next.rank))
                unsafe next.rank = node.rank
                if cameFrom[ObjectIdentifier(next)] == nil, next !== other {
                    cameFrom[ObjectIdentifier(next)] = node
                }
                open.append(next)
            }
        }
        return nil
    }

    private func rest(from node: WorkNode) -> [WorkNode] {
        var path = [node]
        while let last = path.last, last !== start { path.append(before[ObjectIdentifier(last)]!) }
        return path
    }
}
