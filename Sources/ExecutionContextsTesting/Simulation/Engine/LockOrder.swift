/// The orders in which the threads of one schedule take locks while they hold others.
struct LockOrder {
    private struct Edge {
        let from: Word
        let to: Word
        let thread: Int
        /// The other locks that the thread held: a lock that guards both orders makes them
        /// harmless.
        let guards: [Word]
    }

    private var edges: [Edge] = []

    /// Records an attempt; returns the thread that tried the opposite order, and the lock that both
    /// concern.
    mutating func add(
        _ lock: Word, held: [Word], by thread: Int
    ) -> (other: Int, lock: Word)? {
        var found: (Int, Word)?
        for from in held where from != lock {
            let guards = held.filter { $0 != from }
            if let other = path(from: lock, to: from, not: thread, guards: guards) {
                found = (other, from)
            }
            if !edges.contains(where: { $0.from == from && $0.to == lock && $0.thread == thread }) {
                edges.append(Edge(from: from, to: lock, thread: thread, guards: guards))
            }
        }
        return found
    }

    /// The first thread on a path of attempts by other threads that leads from one lock to another.
    private func path(
        from: Word, to: Word, not thread: Int, guards: [Word]
    ) -> Int? {
        var reached: [(lock: Word, first: Int?)] = [(from, nil)]
        var index = 0
        while index < reached.count {
            let (lock, first) = reached[index]
            index += 1
            for edge in edges where edge.from == lock && edge.thread != thread {
                if edge.guards.contains(where: { guards.contains($0) }) { continue }
                if edge.to == to { return first ?? edge.thread }
                if !reached.contains(where: { $0.lock == edge.to }) {
                    reached.append((edge.to, first ?? edge.thread))
                }
            }
        }
        return nil
    }
}

extension SimulationScheduler {
    /// Records that a thread is about to take a lock while it holds others; a cycle of such orders
    /// is a finding.
    func noteOrder(_ owner: Word, _ thread: SimulatedThread) {
        // A lock that the thread has already it does not wait for.
        guard inversion == nil, phase == .running, !thread.held.isEmpty,
            !thread.held.contains(owner),
            let found = order.add(owner, held: thread.held, by: thread.id)
        else { return }
        let (lock, other) = (
            names.name(of: owner) ?? "a lock", names.name(of: found.lock) ?? "another"
        )
        inversion = Finding(
            kind: .lockOrder,
            message:
                "'\(thread.name)' takes '\(lock)' while it holds '\(other)', and '\(threads[found.other].name)' "
                + "takes them in the opposite order. Two threads that do so at the same time deadlock: take locks "
                + "in one order everywhere.")
    }
}
