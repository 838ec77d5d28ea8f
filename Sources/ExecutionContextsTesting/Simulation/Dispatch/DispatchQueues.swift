/// The Dispatch queues that one schedule uses, and the jobs that wait for its groups.
///
/// A queue is retained until the schedule ends, so that no other one gets its address.
final class DispatchQueues {
    // The scheduler owns this. A use after its end would trap, not read freed memory.
    private unowned let scheduler: SimulationScheduler
    private var all: [Word: SimulatedDispatchQueue] = [:]
    /// The previous states of queues whose target changed.
    private var earlier: [SimulatedDispatchQueue] = []
    /// The names of the queues that the schedule created.
    private var names: [Word: String] = [:]
    private var suspended: Set<Word> = []
    /// Jobs that run when a group is empty.
    private var notifications: [(group: SystemCounter, submit: () -> Void)] = []

    /// How many jobs of a concurrent queue may run at a time.
    private static let width = 24

    init(_ scheduler: SimulationScheduler) { self.scheduler = scheduler }

    /// Records a queue that the schedule created.
    func make(_ queue: SystemQueue, _ name: String) { names[queue.word] = name }

    /// Another queue, which the schedule did not create, now has this address.
    func forget(_ queue: SystemQueue) { names[queue.word] = nil }

    func known(_ queue: Word) -> SimulatedDispatchQueue? { all[queue] }

    /// A queue, with what the schedule knows about it.
    subscript(_ queue: SystemQueue) -> SimulatedDispatchQueue {
        if let known = all[queue.word] { return known }
        let made = add(queue)
        all[queue.word] = made
        return made
    }

    private func add(_ queue: SystemQueue) -> SimulatedDispatchQueue {
        if queue.isGlobal {
            return SimulatedDispatchQueue(
                queue, scheduler.system.name, target: nil, base: scheduler.system, on: scheduler)
        }
        let name =
            names[queue.word] ?? scheduler.names.unique(queue.isMain ? "main queue" : queue.name)
        let target = queue.isMain ? nil : queue.target.map { self[$0] }
        let base =
            target?.base
            ?? SimulatedJobQueue(
                name, width: queue.isSerial ? 1 : Self.width, for: queue,
                isolation: queue.isMain ? TaskJob.mainActor : 0, on: scheduler)
        return SimulatedDispatchQueue(queue, name, target: target, base: base, on: scheduler)
    }

    /// A queue changed its target, or was resumed.
    func didChange(_ queue: Word) -> Bool {
        guard let known = all[queue] else { return true }
        if known.queue.target?.word == known.target?.queue.word {
            known.startJobs()
            return true
        }
        guard known.isIdle else { return false }
        all[queue] = nil
        earlier.append(known)
        return true
    }

    /// A queue with jobs that nothing will start.
    var left: String? { all.values.filter(\.hasJobs).map(\.name).min() }

    // MARK: Groups

    /// Defers a submission until a group is empty.
    func notify(_ group: SystemCounter, _ submit: @escaping () -> Void) {
        group.retain()
        notifications.append((group, submit))
    }

    /// Submits the jobs whose groups are now empty; returns whether there were any.
    @discardableResult
    func submitNotifications(of group: SystemCounter? = nil) -> Bool {
        guard !notifications.isEmpty else { return false }
        let due = notifications.filter {
            (group == nil || group!.isSame(as: $0.group)) && $0.group.take()
        }.map(\.group)
        guard !due.isEmpty else { return false }
        let isDue = { (other: SystemCounter) in due.contains { $0.isSame(as: other) } }
        let submitted = notifications.filter { isDue($0.group) }
        notifications.removeAll { isDue($0.group) }
        for (group, submit) in submitted {
            submit()
            group.release()
        }
        return true
    }

    /// Whether something waits for a group that is not empty.
    var hasNotifications: Bool { !notifications.isEmpty }

    /// Leaks the queues that are suspended when a schedule fails: the thread that would resume them
    /// may never continue, and Dispatch traps when a suspended queue is freed.
    func keepSuspended() {
        for (word, queue) in all where queue.queue.isSuspended && !suspended.contains(word) {
            suspended.insert(word)
            queue.queue.retain()
        }
    }

    /// Drops all jobs.
    func close() {
        for queue in all.values { queue.close() }
        for (group, _) in notifications { group.release() }
        (all, earlier, notifications) = ([:], [], [])
    }
}
