/// In which order the lanes of one schedule try to take locks while they hold others.
struct LockOrder {
    private struct Edge {
        let from: Word
        let to: Word
        let lane: Int
        /// What else the lane held: a lock that guards both orders makes them harmless.
        let guards: [Word]
    }

    private var edges: [Edge] = []

    /// Notes an attempt, and returns the lane that has tried the other order, and the lock that both are about.
    mutating func add(
        _ lock: Word, held: [Word], by lane: Int
    ) -> (other: Int, lock: Word)? {
        var found: (Int, Word)?
        for from in held where from != lock {
            let guards = held.filter { $0 != from }
            if let other = path(from: lock, to: from, not: lane, guards: guards) {
                found = (other, from)
            }
            if !edges.contains(where: { $0.from == from && $0.to == lock && $0.lane == lane }) {
                edges.append(Edge(from: from, to: lock, lane: lane, guards: guards))
            }
        }
        return found
    }

    /// The first lane on a way of attempts, all of other lanes, that leads from one lock to another.
    private func path(
        from: Word, to: Word, not lane: Int, guards: [Word]
    ) -> Int? {
        var reached: [(lock: Word, first: Int?)] = [(from, nil)]
        var index = 0
        while index < reached.count {
            let (lock, first) = reached[index]
            index += 1
            for edge in edges where edge.from == lock && edge.lane != lane {
                if edge.guards.contains(where: { guards.contains($0) }) { continue }
                if edge.to == to { return first ?? edge.lane }
                if !reached.contains(where: { $0.lock == edge.to }) {
                    reached.append((edge.to, first ?? edge.lane))
                }
            }
        }
        return nil
    }
}

extension Stage {
    /// Notes that a lane tries a lock while it holds others; a circle of such orders is a finding.
    func noteOrder(_ owner: Word, _ lane: Lane) {
        guard inversion == nil, let found = order.add(owner, held: lane.held, by: lane.id) else { return }
        let (lock, other) = (names.name(of: owner) ?? "a lock", names.name(of: found.lock) ?? "another")
        inversion = Finding(
            kind: .lockOrder,
            sentence:
                "'\(lane.name)' takes '\(lock)' while it holds '\(other)', and '\(lanes[found.other].name)' "
                + "takes them the other way round. Two that do so at a time wait for each other for ever: take locks "
                + "in one order everywhere.")
    }
}
