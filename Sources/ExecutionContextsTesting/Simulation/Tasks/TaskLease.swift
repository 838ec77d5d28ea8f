internal import ExecutionContexts
internal import Synchronization

/// The right to run tasks, which one search of the process holds at a time.
///
/// Searches may share an actor: the main actor, or a `static let shared`. The runtime queues the
/// jobs of an actor for the whole process, so one search's use of an actor would affect the
/// schedules of another:
///
/// 1. A search takes the lease when a schedule has its first task, after earlier requests.
/// 2. It keeps the lease to the end of a schedule. After some schedules, and at the end of the
///    search, the next search gets it.
/// 3. A search that was given up loses the lease. A thread of it that requests it again ends there:
///    it could block while it holds the lease, and its caller already has a report.
final class TaskLease: Sendable {
    private struct State {
        var owner: TaskLease?
        var waiting: [TaskLease] = []
    }
    private static let state = Locked(State())
    /// How many schedules a search runs while another one waits.
    private static let mostSchedules = 8

    // Relaxed, here and below: only the threads of the search use it, whose token orders them. The
    // caller of the search revokes the lease when they are blocked.
    private let isOwn = Atomic(false)
    /// Whether the search was given up. Relaxed: `state` orders it with the owner.
    private let isLost = Atomic(false)
    private let scheduleCount = Atomic(0)
    private let comes = Signal()

    /// Takes the lease, if the search does not hold it; calls `each` from time to time while it
    /// waits. Calls `lost` where the calling thread ends.
    func take(each: () -> Void, lost: () -> Void) {
        if isOwn.load(ordering: .relaxed) { return }
        // The sanitizer must see that one search follows the other.
        HiddenFromSanitizer.suspended { wait(each) }
        isOwn.store(true, ordering: .relaxed)
        if isLost.load(ordering: .relaxed) {
            lost()
            HostThread.endCurrent()
        }
    }

    private func wait(_ each: () -> Void) {
        let isFree = Self.state.withLock { state in
            if isLost.load(ordering: .relaxed) { return true }
            if state.owner != nil {
                state.waiting.append(self)
                return false
            }
            state.owner = self
            return true
        }
        // A waiting search is not blocked: if the owner is, the owner reports it.
        guard !isFree else { return }
        while !isLost.load(ordering: .relaxed), !comes.wait(count: 1, atMost: .milliseconds(100)) {
            each()
        }
    }

    /// Gives other searches a chance between two schedules.
    func scheduleDidEnd() {
        guard isOwn.load(ordering: .relaxed) else { return }
        let count = scheduleCount.add(1, ordering: .relaxed).newValue
        if count % Self.mostSchedules == 0, Self.state.withLock({ !$0.waiting.isEmpty }) {
            giveUp()
        }
    }

    /// Revokes the lease of a search for good, since its thread is blocked.
    func lose() {
        Self.state.withLock { state in
            isLost.store(true, ordering: .relaxed)
            state.waiting.removeAll { $0 === self }
        }
        giveUp()
    }

    /// Passes the lease to the search that has waited longest.
    func giveUp() {
        isOwn.store(false, ordering: .relaxed)
        HiddenFromSanitizer.suspended {
            Self.state.withLock { state in
                guard state.owner === self else { return }
                state.owner = state.waiting.isEmpty ? nil : state.waiting.removeFirst()
                state.owner?.comes.happen()
            }
        }
    }
}
