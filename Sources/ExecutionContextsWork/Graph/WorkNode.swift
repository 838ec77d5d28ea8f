internal import ExecutionContexts
internal import Synchronization

/// A work item in flight, without its value type: its subscribers, its priority, and its
/// dependencies.
///
/// "In a graph job" below means inside a job of `graph.jobs`.
@usableFromInline
class WorkNode: @unchecked Sendable {
    // Unchecked: all but the atomics is accessed in graph jobs only, one of which runs at a time.
    //
    // The exclusivity of some variables is also unchecked: no access to them calls or frees
    // anything outside of the graph. Removed values are moved out first.
    final let graph: WorkGraph
    /// The subscribers, in the order of joining.
    @exclusivity(unchecked) final var subscribers = SubscriptionList()
    /// How many subscribers there are at each priority.
    @exclusivity(unchecked) final var priorityCounts = PriorityCounts()
    /// How many subscribers are work items that need this one.
    @exclusivity(unchecked) final var dependentCount = 0
    /// The subscriptions to the work items that this one needs.
    @exclusivity(unchecked) final var dependencies = SubscriptionList()
    /// The subscriptions to work items of other graphs, which may be on other contexts.
    @exclusivity(unchecked) private var foreignDependencies: [Subscription] = []
    @exclusivity(unchecked) final var hasEnded = false
    /// No higher than the rank of any node that this one needs; see `cycle(through:)`.
    @exclusivity(unchecked) final var rank = 0
    /// Called at the end, in the order of registration; some only if the work was cancelled.
    @exclusivity(unchecked) private var endHandlers: [EndHandler] = []
    private typealias EndHandler = (isForCancel: Bool, body: Work)
    @exclusivity(unchecked) private var priorityHandlers: [PriorityHandler] = []

    /// The thread that moves this away from `inFlight` decides how the work ends.
    private let state = Atomic<State>(.inFlight)
    /// The values of `state`.
    private enum State: UInt8, AtomicRepresentable { case inFlight, finished, cancelled }
    /// The priority, for readers on other threads.
    private let level = Atomic<Int>(WorkPriority.medium.rawValue)

    /// Whether a job about this work was submitted from off the context, and may be queued.
    private let hasSubmittedJobs = Atomic<Bool>(false)

    init(in graph: WorkGraph) {
        self.graph = graph
        graph.count(1)
    }

    /// The name in messages.
    var name: String { fatalError("A subclass of WorkNode overrides name.") }

    /// Removes the work, which has ended, from its `WorkEntry`, so that a later request begins
    /// anew.
    func retire() {}

    // MARK: - Jobs about this work

    /// Runs a job about this work, in the order of the calls.
    ///
    /// On the context it runs inline, unless an earlier job about this work may still be queued.
    final func perform(_ job: consuming @escaping ConfinedJob) {
        // Relaxed: the load must see only stores that happen before this call, and those are
        // visible already (law 6).
        if graph.jobs.canRunHere {
            if !hasSubmittedJobs.load(ordering: .relaxed) { return graph.jobs.runHere(consume job) }
        } else {
            hasSubmittedJobs.store(true, ordering: .relaxed)
        }
        graph.jobs.perform(.library("graph event"), consume job)
    }

    // MARK: - State

    // Acquiring and releasing, here and below: a thread that sees the end sees everything before
    // it.
    @usableFromInline
    final var isInFlight: Bool {
        SimulationHooks.look()
        return state.load(ordering: .acquiring) == .inFlight
    }
    final var isCancelled: Bool {
        SimulationHooks.look()
        return state.load(ordering: .acquiring) == .cancelled
    }

    /// True for the one caller that may end the work as finished.
    final func claimEnd() -> Bool { claim(.finished) }

    private func claim(_ end: State) -> Bool {
        SimulationHooks.point()
        return state.compareExchange(
            expected: .inFlight, desired: end, ordering: .acquiringAndReleasing
        )
        .exchanged
    }

    /// Ends the work, in a graph job: requests no longer find it, and it has no dependencies.
    final func end() {
        unsafe hasEnded = true
        retire()
        graph.count(-1)
        let priorityHandlers = unsafe Self.takeAll(&self.priorityHandlers)
        let endHandlers = unsafe Self.takeAll(&self.endHandlers)
        let foreignDependencies = unsafe Self.takeAll(&self.foreignDependencies)
        defer { withExtendedLifetime(priorityHandlers) {} }
        let isCancelled = isCancelled
        // The handlers' jobs run before those that unsubscribe from the dependencies.
        for handler in endHandlers where isCancelled || !handler.isForCancel {
            graph.jobs.runAfterCurrent(handler.body)
        }
        for case let dependency? in unsafe dependencies.removeAll() { dependency.cancelInJob() }
        for dependency in foreignDependencies { graph.jobs.runAfterCurrent { dependency.cancel() } }
    }

    private static func takeAll<Element>(_ list: inout [Element]) -> [Element] {
        var all: [Element] = []
        swap(&all, &list)
        return all
    }

    /// Cancels the work, in a graph job, unless its end is pending: first its handlers, then its
    /// dependencies, in order.
    private func cancel() {
        if claim(.cancelled) { end() }
    }

    /// Runs `body` when the work is cancelled, at once if it has been; in a graph job.
    final func onCancel(_ body: @escaping Work) {
        if isCancelled { return graph.jobs.runAfterCurrent(body) }
        if unsafe !hasEnded { unsafe endHandlers.append((true, body)) }
    }

    /// Runs `body` when the work has ended, at once if it has; in a graph job.
    final func onEnd(_ body: @escaping Work) {
        if unsafe hasEnded { return graph.jobs.runAfterCurrent(body) }
        unsafe endHandlers.append((false, body))
    }

    // MARK: - Priority

    // Relaxed: a priority orders no memory.
    final var priority: WorkPriority {
        WorkPriority(rawValue: level.load(ordering: .relaxed)) ?? .medium
    }

    final func onPriority(_ body: @escaping @Sendable (WorkPriority) -> Void) {
        if unsafe hasEnded { return }
        let handler = PriorityHandler(body)
        unsafe priorityHandlers.append(handler)
        graph.jobs.runAfterCurrent { self.notify(handler) }
    }

    /// Reports the priority as it is when this job runs, unless the work has ended or it was
    /// reported already.
    private func notify(_ handler: PriorityHandler) {
        if unsafe !hasEnded { handler.notify(priority) }
    }

    /// Updates the priority after a change of the subscribers, or cancels the work if none is left;
    /// in a graph job.
    final func subscribersChanged() {
        if unsafe hasEnded { return }
        guard let highest = unsafe priorityCounts.highest else { return cancel() }
        guard highest != priority else { return }
        level.store(highest.rawValue, ordering: .relaxed)
        for handler in unsafe priorityHandlers {
            graph.jobs.runAfterCurrent { self.notify(handler) }
        }
        for dependency in unsafe dependencies.all { dependency.changeInJob(to: highest) }
        for dependency in unsafe foreignDependencies {
            graph.jobs.runAfterCurrent { dependency.priority = highest }
        }
    }

    /// Adds a dependency of another graph, which lasts until the work ends; in a graph job.
    final func addForeignDependency(_ dependency: Subscription) {
        // If both graphs share a context, subscribing may have ended this work.
        if unsafe hasEnded {
            _ = dependency.cancel()
        } else {
            unsafe foreignDependencies.append(dependency)
        }
    }
}
