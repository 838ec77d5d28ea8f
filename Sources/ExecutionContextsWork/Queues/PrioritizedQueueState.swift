internal import ExecutionContexts

/// The queued jobs, one list per priority, and the number of permits in use. It is used under a
/// lock.
///
/// It runs nothing. Each queued job has a slot, and the lists link slots by number, so a job is
/// removed or moved in constant time without touching its reference count.
struct PrioritizedQueueState {
    private struct Slot {
        var job: QueuedJob?
        var next = none
        var previous = none
    }
    private struct JobList {
        var first = none
        var last = none
    }

    private static let none: Int32 = -1

    private var lists = [JobList](repeating: JobList(), count: WorkPriority.allCases.count)
    private var slots: [Slot] = []
    /// The first free slot; free slots are linked too.
    private var empty = none
    private(set) var pendingCount = 0
    private(set) var runningCount = 0
    var limit: Int
    var isSuspended = false

    init(limit: Int) { self.limit = limit }

    /// Appends a job to the list of its priority.
    mutating func append(_ job: QueuedJob) {
        job.slot = takeSlot()
        slots[Int(job.slot)].job = job
        link(job.slot, to: job.priority)
        pendingCount += 1
    }

    /// Moves a queued job to the list of another priority; with its own priority it keeps its
    /// position.
    ///
    /// A raised job is appended. A lowered job is prepended, since all jobs of the lower priority
    /// were behind it.
    mutating func move(_ job: QueuedJob, to priority: WorkPriority) {
        if job.priority == priority { return }
        unlink(job.slot, from: job.priority)
        if priority < job.priority {
            linkFirst(job.slot, to: priority)
        } else {
            link(job.slot, to: priority)
        }
        job.priority = priority
    }

    /// Removes a queued job, which will never start.
    mutating func withdraw(_ job: QueuedJob) {
        remove(job)
        job.phase = .over
    }

    /// Gives a free permit to the next job; nil if there is no permit or no job.
    mutating func next() -> QueuedJob? {
        guard pendingCount > 0, runningCount < limit, !isSuspended else { return nil }
        guard let list = lists.last(where: { $0.first != Self.none }),
            let job = slots[Int(list.first)].job
        else { return nil }
        remove(job)
        job.phase = .handed
        runningCount += 1
        return job
    }

    /// Returns the permit of a job.
    mutating func returnPermit(_ job: QueuedJob) {
        job.phase = .over
        runningCount -= 1
    }

    private mutating func remove(_ job: QueuedJob) {
        unlink(job.slot, from: job.priority)
        slots[Int(job.slot)] = Slot(next: empty)
        empty = job.slot
        pendingCount -= 1
        // Release the memory of a long queue.
        if pendingCount == 0, slots.count > 1024 {
            slots = []
            empty = Self.none
        }
    }

    private mutating func takeSlot() -> Int32 {
        guard empty != Self.none else {
            slots.append(Slot())
            return Int32(slots.count - 1)
        }
        let slot = empty
        empty = slots[Int(slot)].next
        return slot
    }

    private mutating func link(_ slot: Int32, to priority: WorkPriority) {
        let (list, last) = (priority.rawValue, lists[priority.rawValue].last)
        slots[Int(slot)].next = Self.none
        slots[Int(slot)].previous = last
        if last == Self.none { lists[list].first = slot } else { slots[Int(last)].next = slot }
        lists[list].last = slot
    }

    private mutating func linkFirst(_ slot: Int32, to priority: WorkPriority) {
        let (list, first) = (priority.rawValue, lists[priority.rawValue].first)
        slots[Int(slot)].next = first
        slots[Int(slot)].previous = Self.none
        if first == Self.none { lists[list].last = slot } else { slots[Int(first)].previous = slot }
        lists[list].first = slot
    }

    private mutating func unlink(_ slot: Int32, from priority: WorkPriority) {
        let (list, next, previous) = (
            priority.rawValue, slots[Int(slot)].next, slots[Int(slot)].previous
        )
        if previous == Self.none {
            lists[list].first = next
        } else {
            slots[Int(previous)].next = next
        }
        if next == Self.none {
            lists[list].last = previous
        } else {
            slots[Int(next)].previous = previous
        }
    }
}
