internal import ExecutionContexts
internal import Synchronization

/// A work under way, without its type of value: who wants it, how much, and what it needs itself.
class WorkNode: @unchecked Sendable {
    // Unchecked: what is not atomic is touched on the graph's context only.
    final let graph: WorkGraph
    /// Those who want it, in the order in which they came.
    final var subscribers = Line()
    /// How many of them want it how much.
    final var wants = Wants()
    /// How many of them are works that need it.
    final var needers = 0
    /// What it needs, each a subscription to another work.
    final var needs = Line()
    /// What it needs of other graphs, whose contexts know more of it.
    private var elsewhere: [Subscription] = []
    final var hasEnded = false
    /// No higher than the rank of anything that it needs; see `circle(through:)`.
    final var rank = 0
    /// Called at its end, in the order of asking; some only if it was cancelled.
    private var endHandlers: [(isForCancel: Bool, body: Work)] = []
    private var priorityHandlers: [PriorityHandler] = []

    /// How it goes: who moves this away from `going` decides how the work ends.
    private let fate = Atomic<UInt8>(Fate.going)
    /// What `fate` may be.
    private enum Fate { static let going: UInt8 = 0, finished: UInt8 = 1, cancelled: UInt8 = 2 }
    /// The priority, for those who look from elsewhere.
    private let level = Atomic<Int>(WorkPriority.medium.rawValue)

    /// Whether something was said about it elsewhere than on the context, which may wait.
    private let isToldFromElsewhere = Atomic<Bool>(false)

    init(in graph: WorkGraph) {
        self.graph = graph
        graph.count(1)
    }

    /// What people call it.
    var name: String { fatalError("Each kind of work has a name.") }

    /// Takes it out of where it could be found, once it ends.
    func retire() {}

    // MARK: - Its turns

    /// Takes a turn for what is said about this work: the order in which that is said is kept.
    ///
    /// On the context it takes no submission, however much waits for others, unless something about
    /// this work may wait, too.
    final func perform(_ turn: @escaping Work) {
        // Relaxed: only what happens before this call must be seen, and that is visible already
        // (law 6).
        if graph.turns.isHere {
            if !isToldFromElsewhere.load(ordering: .relaxed) { return graph.turns.takeHere(turn) }
        } else {
            isToldFromElsewhere.store(true, ordering: .relaxed)
        }
        graph.turns.perform(turn)
    }

    // MARK: - Whether it goes on

    // Acquiring and releasing, here and below: who sees the end sees what came before it.
    final var isGoing: Bool { fate.load(ordering: .acquiring) == Fate.going }
    final var isCancelled: Bool { fate.load(ordering: .acquiring) == Fate.cancelled }

    /// True for the one who may say how it ended.
    final func claimEnd() -> Bool { claim(Fate.finished) }

    private func claim(_ end: UInt8) -> Bool {
        Seam.point()
        return fate.compareExchange(expected: Fate.going, desired: end, ordering: .acquiringAndReleasing)
            .exchanged
    }

    /// Ends it, in a turn: it cannot be found any more, and wants nothing any more.
    final func end() {
        hasEnded = true
        retire()
        graph.count(-1)
        priorityHandlers = []
        let isCancelled = isCancelled
        // Their turns come before those in which what it needs loses a subscriber.
        for handler in endHandlers where isCancelled || !handler.isForCancel {
            graph.turns.next(handler.body)
        }
        endHandlers = []
        for need in needs.removeAll() { need.cancelInTurn() }
        for need in elsewhere { graph.turns.next { need.cancel() } }
        elsewhere = []
    }

    /// Cancels it, in a turn, unless its end is under way: its own handlers come first, then what
    /// it needs, in order.
    private func cancel() {
        if claim(Fate.cancelled) { end() }
    }

    /// Runs `body` when it is cancelled, at once if it has been; in a turn.
    final func onCancel(_ body: @escaping Work) {
        if isCancelled { return graph.turns.next(body) }
        if !hasEnded { endHandlers.append((true, body)) }
    }

    /// Runs `body` when it has ended, at once if it has; in a turn.
    final func onEnd(_ body: @escaping Work) {
        if hasEnded { return graph.turns.next(body) }
        endHandlers.append((false, body))
    }

    // MARK: - How much it is wanted

    // Relaxed: a priority orders no memory.
    final var priority: WorkPriority { WorkPriority(rawValue: level.load(ordering: .relaxed)) ?? .medium }

    final func onPriority(_ body: @escaping @Sendable (WorkPriority) -> Void) {
        if hasEnded { return }
        let handler = PriorityHandler(body)
        priorityHandlers.append(handler)
        graph.turns.next { self.tell(handler) }
    }

    /// By its turn it may be another priority, which is told now and not once more, or none.
    private func tell(_ handler: PriorityHandler) { if !hasEnded { handler.tell(priority) } }

    /// Sees to what follows when those who want it have changed; in a turn.
    final func wantsChanged() {
        if hasEnded { return }
        guard let highest = wants.highest else { return cancel() }
        guard highest != priority else { return }
        level.store(highest.rawValue, ordering: .relaxed)
        for handler in priorityHandlers { graph.turns.next { self.tell(handler) } }
        for need in needs.all { need.changeInTurn(to: highest) }
        for need in elsewhere { graph.turns.next { need.priority = highest } }
    }

    /// Needs something of another graph for as long as it lasts; in a turn.
    final func need(elsewhere need: Subscription) {
        // Asking may have been enough for it to end, where both share a context.
        if hasEnded { _ = need.cancel() } else { elsewhere.append(need) }
    }
}
