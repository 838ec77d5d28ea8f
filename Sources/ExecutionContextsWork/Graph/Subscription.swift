public import ExecutionContexts
internal import Synchronization

/// One subscriber's share in a work item: its priority, and whether it is still subscribed.
///
/// Keep it to change the priority or to cancel. Releasing the subscription does not cancel the
/// work. Any thread may use it.
public class Subscription: @unchecked Sendable {
    // Unchecked: all but the atomics is accessed in graph jobs only. Exclusivity is unchecked as in
    // `WorkNode`.
    /// The work, from joining it until leaving or receiving the end.
    @exclusivity(unchecked) final var node: WorkNode?
    /// The number in the work's list of subscribers.
    @exclusivity(unchecked) final var number: UInt64 = 0
    /// The work that needs this one, if the subscriber is a work item; and the number in its list
    /// of dependencies.
    @exclusivity(unchecked) private var parent: (node: WorkNode, number: UInt64)?
    /// The priority that the work has counted.
    @exclusivity(unchecked) private var counted: WorkPriority
    private let jobs: ConfinedJobs

    /// Whether the subscriber waits for the end, has received it or has left.
    private let state = Atomic<State>(.waiting)
    private enum State: UInt8, AtomicRepresentable { case waiting, notified, left }
    /// The latest priority that was set.
    private let wanted: Atomic<Int>
    /// Whether a job is pending that counts the new priority.
    private let isRecountPending = Atomic<Bool>(false)

    init(_ priority: WorkPriority, _ jobs: ConfinedJobs) {
        unsafe counted = priority
        wanted = Atomic(priority.rawValue)
        self.jobs = jobs
    }

    // MARK: - For its subscriber

    /// The priority of the work for this subscriber.
    ///
    /// Set it at any time: the work's own priority is the highest of all its subscribers', and
    /// follows, also downwards (law 32). After several changes in a row, the last one counts.
    // Relaxed: `isRecountPending` orders it for the job that reads it.
    public final var priority: WorkPriority {
        get { WorkPriority(rawValue: wanted.load(ordering: .relaxed)) ?? .medium }
        set {
            SimulationHooks.point()
            // The work knows this priority, or a pending job will count it.
            if wanted.exchange(newValue.rawValue, ordering: .relaxed) == newValue.rawValue {
                return
            }
            SimulationHooks.point()
            // Acquiring and releasing: either the pending job sees this priority, or a new one is
            // submitted.
            guard !isRecountPending.exchange(true, ordering: .acquiringAndReleasing) else { return }
            jobs.perform(.library("new priority")) { _ in self.recount() }
        }
    }

    /// Unsubscribes: true if the end was not delivered. Then no event follows, not even the end
    /// (law 31).
    ///
    /// A handler that another thread is running is not interrupted. If the work has no other
    /// subscriber, it is cancelled:
    ///
    /// 1. Its own handlers are called.
    /// 2. It unsubscribes from its dependencies, in the order of subscription.
    /// 3. The same follows there, down to work without dependencies.
    @discardableResult
    public final func cancel() -> Bool {
        guard move(to: .left) else { return false }
        jobs.perform(.library("unsubscribe")) { _ in self.unsubscribe() }
        return true
    }

    /// Whether the end may still be delivered.
    public final var isActive: Bool {
        SimulationHooks.look()
        return state.load(ordering: .acquiring) == .waiting
    }

    // MARK: - For the work, in graph jobs

    /// `cancel` for a caller in a graph job, which makes no submission.
    final func cancelInJob() { if move(to: .left) { jobs.runAfterCurrent { self.unsubscribe() } } }

    /// The priority's setter for a caller in a graph job, which makes no submission.
    final func changeInJob(to priority: WorkPriority) {
        wanted.store(priority.rawValue, ordering: .relaxed)
        jobs.runAfterCurrent { self.recount() }
    }

    /// True for the one delivery that may report the end.
    final func claimDelivery() -> Bool { move(to: .notified) }

    private func move(to new: State) -> Bool {
        SimulationHooks.point()
        // Acquiring and releasing: exactly one of end and leave succeeds, and sees everything
        // before it.
        return state.compareExchange(
            expected: .waiting, desired: new, ordering: .acquiringAndReleasing
        )
        .exchanged
    }

    /// Joins a work item, which counts this subscriber from now on.
    final func join(_ node: WorkNode, as number: UInt64) {
        unsafe self.node = node
        unsafe self.number = number
        // A priority set before the join counts from the start.
        unsafe counted = priority
        unsafe node.priorityCounts.add(counted)
        if unsafe parent != nil { unsafe node.dependentCount += 1 }
    }

    /// Joins on behalf of another work item.
    final func join(for parent: WorkNode) {
        unsafe self.parent = (parent, parent.dependencies.append(self))
        parent.graph.countDependencies(1)
    }

    /// The work item on whose behalf this subscription joined.
    final var dependent: WorkNode? { unsafe parent?.node }

    private func recount() {
        SimulationHooks.point()
        // Acquiring and releasing, as in the setter.
        _ = isRecountPending.exchange(false, ordering: .acquiringAndReleasing)
        SimulationHooks.point()
        guard let node = unsafe node, unsafe priority != counted else { return }
        unsafe node.priorityCounts.remove(counted)
        unsafe counted = priority
        unsafe node.priorityCounts.add(counted)
        node.subscribersChanged()
    }

    private func unsubscribe() {
        guard let node = detach() else { return }
        unsafe node.priorityCounts.remove(counted)
        node.subscribersChanged()
    }

    /// Releases the work and the handler, and removes itself from the work's list of subscribers.
    func detach() -> WorkNode? {
        let parent = unsafe parent.take()
        if let (node, number) = parent {
            _ = unsafe node.dependencies.remove(number)
            node.graph.countDependencies(-1)
        }
        guard let node = unsafe node.take() else { return nil }
        if parent != nil { unsafe node.dependentCount -= 1 }
        _ = unsafe node.subscribers.remove(number)
        return node
    }
}

extension Subscription: CancellationHandle {
    public var isFinished: Bool { !isActive }
}
