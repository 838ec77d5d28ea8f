internal import ExecutionContexts

/// Finds circles as they come to be, without looking at the whole graph for each new need.
///
/// Each work has a rank, no higher than that of anything it needs: so a work of a lower rank is
/// needed by none of a higher one, and most needs are known to be no circle at a glance. Where
/// ranks do not tell, a search backward among equals, which gives up after about the square root of
/// the number of needs, comes before a search forward, which raises the rank of all that it visits:
/// n needs take about n times the square root of n steps in all (Bender, Fineman, Gilbert, Tarjan,
/// "A New Approach to Incremental Cycle Detection and Related Problems", 2016).
extension WorkNode {
    /// The works from `other` to this one along what each needs, if `other` needs this one already;
    /// in a turn.
    ///
    /// Nil if not; then the ranks are such that this one may need `other`.
    final func circle(through other: WorkNode) -> [WorkNode]? {
        if self === other { return [self] }
        if rank < other.rank { return nil }
        // Most are new and need nothing yet, or are at the top and nothing needs them.
        if other.needs.isEmpty {
            other.rank = rank
            return nil
        }
        if needers == 0 {
            rank = other.rank
            return nil
        }
        var search = CircleSearch(from: self, to: other)
        if let way = search.backward() { return way }
        if search.isComplete && rank == other.rank { return nil }
        return search.forward()
    }
}

private struct CircleSearch {
    private let start: WorkNode
    private let other: WorkNode
    /// The works that need the start and have its rank, each with the one after it on the way
    /// there.
    private var before: [ObjectIdentifier: WorkNode]
    /// Whether those are all.
    private(set) var isComplete = true

    init(from start: WorkNode, to other: WorkNode) {
        self.start = start
        self.other = other
        before = [ObjectIdentifier(start): start]
    }

    mutating func backward() -> [WorkNode]? {
        var left = max(32, Int(Double(start.graph.needCount).squareRoot()))
        var open = [start]
        while let node = open.popLast() {
            if node.needers == 0 { continue }
            for subscriber in node.subscribers.places {
                left -= 1
                if left < 0 {
                    isComplete = false
                    before = [ObjectIdentifier(start): start]
                    return nil
                }
                guard let needer = subscriber?.needer, needer.rank == start.rank,
                    before[ObjectIdentifier(needer)] == nil
                else { continue }
                before[ObjectIdentifier(needer)] = node
                if needer === other { return rest(from: needer) }
                open.append(needer)
            }
        }
        return nil
    }

    /// Raises the ranks of `other` and of what it needs, unless that is the start.
    func forward() -> [WorkNode]? {
        var raised = [(node: other, rank: other.rank)]
        var cameFrom: [ObjectIdentifier: WorkNode] = [:]
        var open = [other]
        other.rank = isComplete ? start.rank : start.rank + 1
        while let node = open.popLast() {
            for place in node.needs.places {
                guard let next = place?.node else { continue }
                if before[ObjectIdentifier(next)] != nil {
                    for (node, rank) in raised { node.rank = rank }
                    var way = [node]
                    while let last = way.last, last !== other {
                        way.append(cameFrom[ObjectIdentifier(last)]!)
                    }
                    return way.reversed() + rest(from: next)
                }
                if next.rank >= node.rank { continue }
                raised.append((next, next.rank))
                next.rank = node.rank
                if cameFrom[ObjectIdentifier(next)] == nil, next !== other {
                    cameFrom[ObjectIdentifier(next)] = node
                }
                open.append(next)
            }
        }
        return nil
    }

    private func rest(from node: WorkNode) -> [WorkNode] {
        var way = [node]
        while let last = way.last, last !== start { way.append(before[ObjectIdentifier(last)]!) }
        return way
    }
}
