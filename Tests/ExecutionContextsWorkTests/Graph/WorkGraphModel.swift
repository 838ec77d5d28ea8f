import ExecutionContexts

/// The simplest specification of a work graph.
struct WorkGraphModel {
    struct Flight {
        /// The priorities of its subscribers: callers, and needs of other work items.
        var wants: [Int: WorkPriority] = [:]
        /// What it needs: the number of each need, and the key of the other work item.
        var needs: [Int: (key: Int, follows: Bool)] = [:]
        /// The promises whose `Async` it follows.
        var promises: Set<Int> = []
        var priority: WorkPriority { wants.values.max()! }
    }

    private(set) var flights: [Int: Flight] = [:]
    private(set) var received: [Int: String] = [:]
    private(set) var stopped: Set<Int> = []
    /// The key that a subscriber or a need belongs to, while it lasts.
    private var keys: [Int: Int] = [:]
    /// The key of the work item that needs, by the number of the need.
    private var needers: [Int: Int] = [:]
    private var now = Duration.zero
    private var limits: [Int: Duration] = [:]
    private var completed: Set<Int> = []

    mutating func subscribe(_ id: Int, to key: Int, _ priority: WorkPriority) {
        keys[id] = key
        flights[key, default: Flight()].wants[id] = priority
        changed(key)
    }

    /// Removes a subscriber; true if it had neither received the end nor left.
    @discardableResult
    mutating func leave(_ id: Int) -> Bool {
        guard let key = keys.removeValue(forKey: id) else { return false }
        limits[id] = nil
        flights[key]!.wants[id] = nil
        if flights[key]!.wants.isEmpty { retire(key) } else { changed(key) }
        return true
    }

    mutating func set(_ priority: WorkPriority, of id: Int) {
        guard let key = keys[id] else { return }
        if flights[key]!.wants[id] == priority { return }
        flights[key]!.wants[id] = priority
        changed(key)
    }

    mutating func need(_ id: Int, of key: Int, _ other: Int, follows: Bool) {
        if reaches(other, key) { return end(key, "cycle") }
        needers[id] = key
        flights[key]!.needs[id] = (other, follows)
        subscribe(id, to: other, flights[key]!.priority)
    }

    mutating func follow(_ promise: Int, by key: Int) {
        // The play follows new promises only. A completed one would end the work at once.
        flights[key]!.promises.insert(promise)
    }

    mutating func complete(promise: Int, _ outcome: String) {
        guard completed.insert(promise).inserted, !stopped.contains(promise) else { return }
        for key in flights.keys.sorted() where flights[key]?.promises.contains(promise) == true {
            end(key, outcome)
        }
    }

    /// Whether something other than the play keeps its flight.
    func isKept(_ key: Int) -> Bool {
        !flights[key]!.promises.isEmpty || flights[key]!.needs.values.contains { $0.follows }
    }

    mutating func end(_ key: Int, _ outcome: String) {
        guard let flight = flights[key] else { return }
        let wants = flight.wants.keys.sorted().map { (id: $0, needer: needers[$0]) }
        retire(key)
        for (id, needer) in wants {
            if let needer {
                // Does nothing if an earlier need has ended the needer.
                needers[id] = nil
                let follows = flights[needer]?.needs.removeValue(forKey: id)?.follows ?? false
                if follows { end(needer, outcome) }
            } else {
                limits[id] = nil
                received[id, default: ""] += outcome
            }
        }
    }

    /// Removes the work item, and ends what it has started.
    private mutating func retire(_ key: Int) {
        guard let flight = flights.removeValue(forKey: key) else { return }
        for id in flight.wants.keys { keys[id] = nil }
        for promise in flight.promises where !completed.contains(promise) {
            stopped.insert(promise)
        }
        for need in flight.needs.keys.sorted() {
            needers[need] = nil
            leave(need)
        }
    }

    private mutating func changed(_ key: Int) {
        let priority = flights[key]!.priority
        for need in flights[key]!.needs.keys.sorted() { set(priority, of: need) }
    }

    private func reaches(_ from: Int, _ to: Int) -> Bool {
        var (open, seen) = ([from], Set([from]))
        while let key = open.popLast() {
            if key == to { return true }
            for next in flights[key]?.needs.values.map(\.key) ?? [] where seen.insert(next).inserted
            {
                open.append(next)
            }
        }
        return false
    }

    // MARK: Time

    mutating func limit(_ id: Int, to limit: Duration) { limits[id] = now + limit }

    mutating func advance(by time: Duration) {
        now += time
        for id in limits.keys.sorted() where limits[id].map({ $0 <= now }) == true {
            guard leave(id) else { continue }
            received[id, default: ""] += "late"
        }
    }
}
