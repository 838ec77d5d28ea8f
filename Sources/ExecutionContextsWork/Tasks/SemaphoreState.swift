internal import ExecutionContexts

/// The permits of a semaphore and the tasks that wait for them; the semaphore guards it.
///
/// - Permits are free only while no task waits.
/// - A returned permit goes to a waiter: to the first of the highest priority. Every `fairness`th
///   goes to the task that has waited longest, so that none waits forever.
struct SemaphoreState: ~Copyable {
    typealias Waiter = SemaphoreWaiter

    private(set) var free: Int
    /// How many tasks wait.
    private(set) var waitingCount = 0
    /// The task that holds the only permit; nil with more permits, and outside of tasks.
    var owner: UInt?
    private var lowest = Self.queue(.lowest)
    private var low = Self.queue(.low)
    private var medium = Self.queue(.medium)
    private var high = Self.queue(.high)
    private var highest = Self.queue(.highest)
    private var arrivals: UInt64 = 0
    private var grants: UInt64 = 0

    /// One permit in this many goes to the task that has waited longest.
    static var fairness: UInt64 { 16 }

    init(permits: Int) { free = permits }

    /// A raised waiter has left the queue of its earlier priority; no waiter is lowered.
    private static func queue(_ priority: WorkPriority) -> TaskWaitQueue<Waiter> {
        TaskWaitQueue { $0.isAnswered || $0.priority != priority }
    }

    /// Takes a free permit.
    mutating func take(as task: UInt?) -> Bool {
        guard free > 0 else { return false }
        free -= 1
        owner = task
        return true
    }

    /// Adds a task that waits.
    mutating func append(_ priority: WorkPriority) -> Waiter {
        arrivals += 1
        waitingCount += 1
        let waiter = Waiter(priority, number: arrivals)
        with(priority) { $0.append(waiter) }
        return waiter
    }

    /// Returns a permit: it passes to a waiter, or becomes free.
    mutating func release() -> Waiter.Resumption? {
        owner = nil
        grants += 1
        guard waitingCount > 0, let waiter = next() else {
            free += 1
            return nil
        }
        waitingCount -= 1
        return waiter.answer()
    }

    /// Removes a waiter whose task was cancelled, unless it has a permit.
    mutating func cancel(_ waiter: Waiter) -> Waiter.Resumption? {
        if waiter.isAnswered { return nil }
        let resumption = waiter.answer(CancellationError())
        waitingCount -= 1
        with(waiter.priority) { $0.noteLeft() }
        return resumption
    }

    /// Moves a waiter after those that already have the higher priority.
    mutating func raise(_ waiter: Waiter, to priority: WorkPriority) {
        let before = waiter.priority
        guard !waiter.isAnswered, priority > before else { return }
        waiter.priority = priority
        with(before) { $0.noteLeft() }
        with(priority) { $0.append(waiter) }
    }

    private mutating func next() -> Waiter? {
        if grants % Self.fairness == 0, let priority = longest() {
            return with(priority) { $0.popFirst() }
        }
        for priority in WorkPriority.allCases.reversed() {
            if let waiter = with(priority, { $0.popFirst() }) { return waiter }
        }
        return nil
    }

    /// The priority of the task that has waited longest.
    private mutating func longest() -> WorkPriority? {
        var longest: (number: UInt64, priority: WorkPriority)?
        for priority in WorkPriority.allCases {
            guard let number = with(priority, { $0.first?.number }) else { continue }
            if longest == nil || number < longest!.number { longest = (number, priority) }
        }
        return longest?.priority
    }

    private mutating func with<Result>(
        _ priority: WorkPriority, _ body: (inout TaskWaitQueue<Waiter>) -> Result
    ) -> Result {
        switch priority {
        case .lowest: body(&lowest)
        case .low: body(&low)
        case .medium: body(&medium)
        case .high: body(&high)
        case .highest: body(&highest)
        }
    }
}

/// A task that waits for a permit.
@usableFromInline
final class SemaphoreWaiter: TaskWaiter, @unchecked Sendable {
    // Unchecked like the base: `priority` is accessed inside the semaphore's section only.
    /// The priority of its queue.
    var priority: WorkPriority
    /// The position in the order of arrival.
    let number: UInt64

    init(_ priority: WorkPriority, number: UInt64) {
        self.priority = priority
        self.number = number
    }
}
