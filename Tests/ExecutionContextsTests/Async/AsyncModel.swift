/// A reference model of a graph of futures: it does everything at once, on one thread.
///
/// It defers nothing, so graphs that are compared with it must not nest deeper than 32.
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
        fileprivate var queue: [FutureSubscriber] = []
        fileprivate var isNotifying = false
        /// What it waits for: its source, or the sources of a combinator.
        fileprivate var waits: [(source: Node, subscriber: FutureSubscriber)] = []
        fileprivate var follows = false
        fileprivate var handlers: [() -> Void] = []
        /// Begins a lazy future.
        fileprivate var start: (() -> Void)?
        /// The futures that its closures captured, while it has these closures.
        fileprivate var captured: [Node] = []

        init(_ number: Int, _ kind: Kind) {
            self.number = number
            self.kind = kind
        }
    }

    final class FutureSubscriber {
        fileprivate let notify: (Outcome) -> Void
        /// The future that subscribes; nil for a callback.
        fileprivate let node: Node?
        /// Whether it is a callback and was the first subscriber.
        fileprivate var isFirst = false

        init(of node: Node? = nil, _ notify: @escaping (Outcome) -> Void) {
            self.node = node
            self.notify = notify
        }
    }

    private(set) var nodes: [Node] = []
    /// The callbacks and handlers that were called, in order.
    var log: [String] = []
    private(set) var now = 0
    /// The node being notified, which may leave the notifying of its own queue to its notifier.
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
        node.start = nil
        if asTail, tail === node, !node.queue.isEmpty, !node.queue[0].isFirst {
            tail = nil
        } else {
            notify(node)
        }
        node.handlers = []
        let waits = node.waits
        node.waits = []
        // A combinator leaves its other sources. A promise completed by hand leaves its source.
        if node.kind == .joined || node.kind == .promise {
            for wait in waits { leave(wait.source, wait.subscriber) }
        }
    }

    /// Completes it with an outcome that did not come from its source, and leaves its source.
    private func giveUp(_ node: Node, _ outcome: Outcome) {
        guard node.outcome == nil else { return }
        let waits = node.waits
        if node.kind != .joined { node.waits = [] }
        let handlers = node.handlers
        end(node, outcome, asTail: false)
        for wait in waits where node.kind != .joined { leave(wait.source, wait.subscriber) }
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

    /// Whether a closure of a pending future keeps a future that keeps this one.
    ///
    /// A future keeps its subscribers, and a closure keeps its captures. So
    /// `never.map { $0 }.flatMap { _ in never }` is a reference cycle, and no library can free it.
    var hasCycle: Bool {
        var open: Set<Int> = []
        var done: Set<Int> = []
        func leadsBack(_ node: Node) -> Bool {
            guard node.outcome == nil, !done.contains(node.number) else { return false }
            guard open.insert(node.number).inserted else { return true }
            if (node.queue.compactMap(\.node) + node.captured).contains(where: leadsBack) {
                return true
            }
            open.remove(node.number)
            done.insert(node.number)
            return false
        }
        return nodes.contains(where: leadsBack)
    }

    // MARK: - Notifying

    private func notify(_ node: Node) {
        guard !node.isNotifying, !node.queue.isEmpty else { return }
        let outer = tail
        var next = notifyQueue(node)
        while let last = next { next = notifyQueue(last) }
        tail = outer
    }

    /// Notifies a queue; returns its last node if that completed, to notify the queue of that next.
    private func notifyQueue(_ node: Node) -> Node? {
        guard let outcome = node.outcome else { return nil }
        var last: Node?
        node.isNotifying = true
        while !node.queue.isEmpty {
            let subscriber = node.queue.removeFirst()
            // It was not the last one after all.
            if let node = last { notify(node) }
            // A combinator subscribes by an object of its own for each source.
            let candidate = subscriber.node.flatMap { $0.kind == .joined ? nil : $0 }
            tail = candidate
            subscriber.notify(outcome)
            last = tail == nil ? candidate : nil
        }
        node.isNotifying = false
        return last
    }

    func join(_ node: Node, _ subscriber: FutureSubscriber, isCallback: Bool = false) {
        subscriber.isFirst = isCallback && node.outcome == nil && node.queue.isEmpty
        node.queue.append(subscriber)
        notify(node)
        node.start.take()?()
    }

    func leave(_ node: Node, _ subscriber: FutureSubscriber) {
        guard let index = node.queue.firstIndex(where: { $0 === subscriber }) else { return }
        node.queue.remove(at: index)
        cancelIfUnwanted(node)
    }

    func cancelIfUnwanted(_ node: Node) {
        if node.outcome == nil, node.queue.isEmpty { _ = cancel(node) }
    }

    private func wait(_ node: Node, for source: Node, _ step: @escaping (Outcome) -> Void) {
        let subscriber = FutureSubscriber(of: node) { outcome in
            guard node.outcome == nil else { return }
            node.waits = []
            step(outcome)
        }
        node.waits = [(source, subscriber)]
        join(source, subscriber)
    }

    // MARK: - Derived futures

    /// A future for which `step` turns its source's outcome into an outcome or a future to follow.
    func derive(
        _ kind: Node.Kind = .derived, from source: Node, capturing captured: Node? = nil,
        hops: @escaping (Outcome) -> Bool = { _ in false },
        _ step: @escaping (Outcome) -> (Outcome?, Node?)
    ) -> Node {
        let node = make(kind)
        node.captured = captured.map { [$0] } ?? []
        wait(node, for: source) { [unowned self] outcome in
            let proceed = { [unowned self] in
                guard node.outcome == nil else { return }
                node.captured = []
                switch step(outcome) {
                case (let outcome?, _): end(node, outcome)
                case (_, let other?): wait(node, for: other) { self.end(node, $0) }
                case (nil, nil): break
                }
            }
            if hops(outcome) { ready.append(proceed) } else { proceed() }
        }
        return node
    }

    /// A future that begins with its first subscriber; `step` gives an outcome or one to follow.
    func lazy(capturing captured: Node, _ step: @escaping () -> (Outcome?, Node?)) -> Node {
        let node = make(.derived)
        node.captured = [captured]
        node.start = { [unowned self, unowned node] in
            let result = step()
            node.captured = []
            switch result {
            case (let outcome?, _): end(node, outcome)
            case (_, let other?): wait(node, for: other) { self.end(node, $0) }
            case (nil, nil): break
            }
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

    /// A combinator that calls `decide` when a source ends, and ends when that returns an outcome.
    func joined(
        _ sources: [Node], _ decide: @escaping (_ outcomes: [Outcome?], _ last: Outcome) -> Outcome?
    )
        -> Node
    {
        let node = make(.joined)
        var outcomes = [Outcome?](repeating: nil, count: sources.count)
        let subscribers = sources.indices.map { index in
            FutureSubscriber(of: node) { [unowned self] outcome in
                outcomes[index] = outcome
                if let result = decide(outcomes, outcome) { end(node, result) }
            }
        }
        node.waits = Array(zip(sources, subscribers)).map { (source: $0, subscriber: $1) }
        for (source, subscriber) in zip(sources, subscribers) {
            guard node.outcome == nil else { cancelIfUnwanted(source); continue }
            join(source, subscriber)
            if node.outcome != nil { leave(source, subscriber) }
        }
        return node
    }

    /// A future that ends like its source, `delay` later; with a nil delay it never ends.
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
            guard let next = timers.min(by: { ($0.at, $0.order) < ($1.at, $1.order) }),
                next.at <= end
            else {
                break
            }
            now = next.at
            // All timers that are due now fire, in order, before anything that they cause.
            let due = timers.filter { $0.at == now }.sorted { $0.order < $1.order }
            timers.removeAll { $0.at == now }
            ready += due.map(\.fire)
        }
        now = end
    }
}
