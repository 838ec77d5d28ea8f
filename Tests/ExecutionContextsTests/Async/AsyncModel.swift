/// What a graph of futures should do, written down as simply as can be: everything at once, on one thread.
///
/// Nothing is put off here, so graphs that are compared with it must not nest deeper than 32.
final class AsyncModel {
    enum Outcome: Equatable {
        case value(Int), failed(Int), cancelled, dropped, timedOut
    }

    /// One future.
    final class Node {
        enum Kind { case promise, derived, shielded, joined }

        let number: Int
        let kind: Kind
        fileprivate(set) var outcome: Outcome?
        fileprivate var line: [Party] = []
        fileprivate var isTelling = false
        /// What it waits for: one source, or those of a joined one.
        fileprivate var waits: [(source: Node, party: Party)] = []
        fileprivate var follows = false
        fileprivate var handlers: [() -> Void] = []
        /// The futures that its closures refer to, as long as it has these closures.
        fileprivate var captured: [Node] = []

        init(_ number: Int, _ kind: Kind) {
            self.number = number
            self.kind = kind
        }
    }

    final class Party {
        fileprivate let tell: (Outcome) -> Void
        /// The future that this is, unless it is a callback.
        fileprivate let node: Node?
        /// Whether it was the first to come, and a callback.
        fileprivate var isFirst = false

        init(of node: Node? = nil, _ tell: @escaping (Outcome) -> Void) {
            self.node = node
            self.tell = tell
        }
    }

    private(set) var nodes: [Node] = []
    /// What was called, in order.
    var log: [String] = []
    private(set) var now = 0
    /// Who is told right now and may leave it to its teller to tell its own line.
    private var tail: Node?
    private var ready: [() -> Void] = []
    private var timers: [(at: Int, order: Int, fire: () -> Void)] = []
    private var order = 0

    func make(_ kind: Node.Kind) -> Node {
        nodes.append(Node(nodes.count, kind))
        return nodes[nodes.count - 1]
    }

    // MARK: - Ending

    func end(_ node: Node, _ outcome: Outcome, asTail: Bool = true) {
        guard node.outcome == nil else { return }
        node.outcome = outcome
        node.captured = []
        if asTail, tail === node, !node.line.isEmpty, !node.line[0].isFirst { tail = nil } else { tell(node) }
        node.handlers = []
        let waits = node.waits
        node.waits = []
        // A joined one leaves the others, and a promise that is completed by hand what it followed.
        if node.kind == .joined || node.kind == .promise {
            for wait in waits { leave(wait.source, wait.party) }
        }
    }

    /// Ends it with an outcome that did not come from its source, and leaves that.
    private func giveUp(_ node: Node, _ outcome: Outcome) {
        guard node.outcome == nil else { return }
        let waits = node.waits
        if node.kind != .joined { node.waits = [] }
        let handlers = node.handlers
        end(node, outcome, asTail: false)
        for wait in waits where node.kind != .joined { leave(wait.source, wait.party) }
        for handler in handlers { handler() }
    }

    func cancel(_ node: Node) -> Bool {
        guard node.outcome == nil else { return false }
        if node.kind == .shielded { end(node, .cancelled) } else { giveUp(node, .cancelled) }
        return true
    }

    func drop(_ node: Node) { if !node.follows { end(node, .dropped) } }

    func onCancel(_ node: Node, capturing captured: Node?, _ handler: @escaping () -> Void) {
        guard node.outcome == nil else { return }
        node.handlers.append(handler)
        node.captured += captured.map { [$0] } ?? []
    }

    /// Whether a closure of some future that has not ended keeps a future that keeps this one.
    ///
    /// A future keeps what waits for it, and a closure keeps what it captured. Whoever writes
    /// `never.map { $0 }.flatMap { _ in never }` has made a reference cycle, and no library can free it.
    var hasCycle: Bool {
        var open: Set<Int> = []
        var done: Set<Int> = []
        func leadsBack(_ node: Node) -> Bool {
            guard node.outcome == nil, !done.contains(node.number) else { return false }
            guard open.insert(node.number).inserted else { return true }
            if (node.line.compactMap(\.node) + node.captured).contains(where: leadsBack) { return true }
            open.remove(node.number)
            done.insert(node.number)
            return false
        }
        return nodes.contains(where: leadsBack)
    }

    // MARK: - Waiting

    private func tell(_ node: Node) {
        guard !node.isTelling, !node.line.isEmpty else { return }
        let outer = tail
        var next = tellLine(node)
        while let last = next { next = tellLine(last) }
        tail = outer
    }

    /// Tells a line; returns its last one if that has ended by it, and now tells its own line, after this one.
    private func tellLine(_ node: Node) -> Node? {
        guard let outcome = node.outcome else { return nil }
        var last: Node?
        node.isTelling = true
        while !node.line.isEmpty {
            let party = node.line.removeFirst()
            // Not the last one after all.
            if let node = last { tell(node) }
            // What stands in the line for a joined one is not that itself.
            let candidate = party.node.flatMap { $0.kind == .joined ? nil : $0 }
            tail = candidate
            party.tell(outcome)
            last = tail == nil ? candidate : nil
        }
        node.isTelling = false
        return last
    }

    func join(_ node: Node, _ party: Party, isCallback: Bool = false) {
        party.isFirst = isCallback && node.outcome == nil && node.line.isEmpty
        node.line.append(party)
        tell(node)
    }

    func leave(_ node: Node, _ party: Party) {
        guard let index = node.line.firstIndex(where: { $0 === party }) else { return }
        node.line.remove(at: index)
        cancelIfUnwanted(node)
    }

    func cancelIfUnwanted(_ node: Node) {
        if node.outcome == nil, node.line.isEmpty { _ = cancel(node) }
    }

    private func wait(_ node: Node, for source: Node, _ step: @escaping (Outcome) -> Void) {
        let party = Party(of: node) { outcome in
            guard node.outcome == nil else { return }
            node.waits = []
            step(outcome)
        }
        node.waits = [(source, party)]
        join(source, party)
    }

    // MARK: - What can be made of one

    /// A future that `step` makes of another one's outcome: an outcome, or another future to end like.
    func derive(
        _ kind: Node.Kind = .derived, from source: Node, capturing captured: Node? = nil,
        hops: @escaping (Outcome) -> Bool = { _ in false },
        _ step: @escaping (Outcome) -> (Outcome?, Node?)
    ) -> Node {
        let node = make(kind)
        node.captured = captured.map { [$0] } ?? []
        wait(node, for: source) { [unowned self] outcome in
            let goOn = { [unowned self] in
                guard node.outcome == nil else { return }
                node.captured = []
                switch step(outcome) {
                case (let outcome?, _): end(node, outcome)
                case (_, let other?): wait(node, for: other) { self.end(node, $0) }
                case (nil, nil): break
                }
            }
            if hops(outcome) { ready.append(goOn) } else { goOn() }
        }
        return node
    }

    func follow(_ promise: Node, _ other: Node) -> Bool {
        guard promise.outcome == nil, !promise.follows else {
            cancelIfUnwanted(other)
            return false
        }
        promise.follows = true
        wait(promise, for: other) { [unowned self] in end(promise, $0) }
        return true
    }

    /// A future that `decide` ends, which is told of each source that has ended, and how many have not.
    func joined(_ sources: [Node], _ decide: @escaping (_ outcomes: [Outcome?], _ last: Outcome) -> Outcome?)
        -> Node
    {
        let node = make(.joined)
        var outcomes = [Outcome?](repeating: nil, count: sources.count)
        let parties = sources.indices.map { index in
            Party(of: node) { [unowned self] outcome in
                outcomes[index] = outcome
                if let result = decide(outcomes, outcome) { end(node, result) }
            }
        }
        node.waits = Array(zip(sources, parties)).map { (source: $0, party: $1) }
        for (source, party) in zip(sources, parties) {
            guard node.outcome == nil else { cancelIfUnwanted(source); continue }
            join(source, party)
            if node.outcome != nil { leave(source, party) }
        }
        return node
    }

    /// A future that ends like its source, `delay` later; never, if that is nil.
    func delayed(_ source: Node, by delay: Int?) -> Node {
        let node = make(.derived)
        wait(node, for: source) { [unowned self] outcome in
            if let delay { wake(after: delay) { [unowned self] in end(node, outcome) } }
        }
        return node
    }

    func timeout(_ source: Node, after limit: Int) -> Node {
        let node = derive(from: source) { ($0, nil) }
        wake(after: limit) { [unowned self] in giveUp(node, .timedOut) }
        return node
    }

    // MARK: - Time

    private func wake(after delay: Int, _ fire: @escaping () -> Void) {
        order += 1
        timers.append((now + delay, order, fire))
    }

    func advance(by duration: Int) {
        let end = now + duration
        while true {
            if !ready.isEmpty {
                ready.removeFirst()()
                continue
            }
            guard let next = timers.min(by: { ($0.at, $0.order) < ($1.at, $1.order) }), next.at <= end else {
                break
            }
            now = next.at
            // All that are due now have their turns, in order, before what they bring about.
            let due = timers.filter { $0.at == now }.sorted { $0.order < $1.order }
            timers.removeAll { $0.at == now }
            ready += due.map(\.fire)
        }
        now = end
    }
}
