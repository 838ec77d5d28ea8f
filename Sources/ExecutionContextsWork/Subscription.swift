public import ExecutionContexts
internal import Synchronization

/// One subscriber's part in a work: how urgent it is to this one, and whether it still wants it.
///
/// Keep it to be able to say so, or let it go: the work goes on all the same. Any thread may use
/// it.
public class Subscription: @unchecked Sendable {
    // Unchecked: what is not atomic is touched on the graph's context only.
    /// The work, from when it has joined it until it has left or been told the end.
    final var node: WorkNode?
    /// Its place among the work's subscribers.
    final var number: UInt64 = 0
    /// The work that needs this one, if it is a work's and not somebody's; and its place there.
    private var parent: (node: WorkNode, number: UInt64)?
    /// The priority that the work knows of.
    private var counted: WorkPriority
    private let turns: Turns

    /// Whether it waits for the end, has been told it or has left.
    private let state = Atomic<UInt8>(State.waiting)
    private enum State { static let waiting: UInt8 = 0, told: UInt8 = 1, left: UInt8 = 2 }
    /// The priority as it was last set.
    private let wanted: Atomic<Int>
    /// Whether a turn will come that looks at it.
    private let isChanging = Atomic<Bool>(false)

    init(_ priority: WorkPriority, _ turns: Turns) {
        counted = priority
        wanted = Atomic(priority.rawValue)
        self.turns = turns
    }

    // MARK: - For its subscriber

    /// How urgent the work is to this subscriber.
    ///
    /// Set it at any time: the work's own priority is the highest of all its subscribers', and
    /// follows, also downwards (law 32). Of several changes in a row the last one counts.
    // Relaxed: the turn that looks at it is ordered by `isChanging`.
    public final var priority: WorkPriority {
        get { WorkPriority(rawValue: wanted.load(ordering: .relaxed)) ?? .medium }
        set {
            Seam.point()
            // What it is already is known, or about to be.
            if wanted.exchange(newValue.rawValue, ordering: .relaxed) == newValue.rawValue { return }
            Seam.point()
            // Acquiring and releasing: either that turn sees this priority, or a new one comes.
            guard !isChanging.exchange(true, ordering: .acquiringAndReleasing) else { return }
            turns.perform { self.recount() }
        }
    }

    /// Leaves: true if the end had not come, which then never comes, nor anything else (law 31).
    ///
    /// An event whose delivery has begun, on another thread, is delivered to its end. If nobody
    /// else wants the work it is cancelled: first its own handlers are called, then what it needs
    /// is let go of, in the order of asking, and so on down to what needs nothing.
    @discardableResult
    public final func cancel() -> Bool {
        guard move(to: State.left) else { return false }
        turns.perform { self.leave() }
        return true
    }

    /// Whether the end may still come.
    public final var isActive: Bool { state.load(ordering: .acquiring) == State.waiting }

    // MARK: - For the work, in its turns

    /// What `cancel` does, as a part of the turn under way.
    final func cancelInTurn() { if move(to: State.left) { turns.next { self.leave() } } }

    /// What setting the priority does, as a part of the turn under way.
    final func changeInTurn(to priority: WorkPriority) {
        wanted.store(priority.rawValue, ordering: .relaxed)
        turns.next { self.recount() }
    }

    /// True for the one delivery that may tell the end.
    final func claimEnd() -> Bool { move(to: State.told) }

    private func move(to new: UInt8) -> Bool {
        Seam.point()
        // Acquiring and releasing: exactly one of end and leave, which sees what came before.
        return state.compareExchange(expected: State.waiting, desired: new, ordering: .acquiringAndReleasing)
            .exchanged
    }

    /// Joins a work: from now on it counts.
    final func join(_ node: WorkNode, as number: UInt64) {
        self.node = node
        self.number = number
        // What was set in the meantime counts from the start.
        counted = priority
        node.wants.add(counted)
        if parent != nil { node.needers += 1 }
    }

    /// Joins a work for the sake of another one.
    final func join(for parent: WorkNode) {
        self.parent = (parent, parent.needs.append(self))
        parent.graph.countNeeds(1)
    }

    /// The work for whose sake it has joined.
    final var needer: WorkNode? { parent?.node }

    private func recount() {
        // Acquiring and releasing, as in the setter.
        _ = isChanging.exchange(false, ordering: .acquiringAndReleasing)
        Seam.point()
        guard let node, priority != counted else { return }
        node.wants.remove(counted)
        counted = priority
        node.wants.add(counted)
        node.wantsChanged()
    }

    private func leave() {
        guard let node = part() else { return }
        node.wants.remove(counted)
        node.wantsChanged()
    }

    /// Lets go of the work and of what it would have been told by, and takes itself from the work's
    /// line.
    func part() -> WorkNode? {
        let parent = parent.take()
        if let (node, number) = parent {
            _ = node.needs.remove(number)
            node.graph.countNeeds(-1)
        }
        guard let node = node.take() else { return nil }
        if parent != nil { node.needers -= 1 }
        _ = node.subscribers.remove(number)
        return node
    }
}
