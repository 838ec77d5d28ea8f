internal import ExecutionContexts

/// What waits, a line for each priority, and how many are at work: the state of a queue, for under
/// its lock.
///
/// It runs nothing. Each job that waits has a slot, and the lines are linked through the slots by
/// number, so that any job leaves or moves in no time and without its reference count being
/// touched.
struct PrioritizedQueueLines {
    private struct Slot {
        var job: QueuedJob?
        var next = none
        var previous = none
    }
    private struct Line {
        var first = none
        var last = none
    }

    private static let none: Int32 = -1

    private var lines = [Line](repeating: Line(), count: WorkPriority.allCases.count)
    private var slots: [Slot] = []
    /// The first of the slots that stand empty, which are linked too.
    private var empty = none
    private(set) var pendingCount = 0
    private(set) var runningCount = 0
    var limit: Int
    var isSuspended = false

    init(limit: Int) { self.limit = limit }

    /// Puts a job at the end of the line of its priority.
    mutating func append(_ job: QueuedJob) {
        job.slot = takeSlot()
        slots[Int(job.slot)].job = job
        link(job.slot, to: job.priority)
        pendingCount += 1
    }

    /// Puts a job that waits into another line: a raised one last, a lowered one first, since what
    /// waits there was behind it until then. In its own line it keeps its place.
    mutating func move(_ job: QueuedJob, to priority: WorkPriority) {
        if job.priority == priority { return }
        unlink(job.slot, from: job.priority)
        if priority < job.priority { linkFirst(job.slot, to: priority) } else { link(job.slot, to: priority) }
        job.priority = priority
    }

    /// Takes out a job that waits and will never start.
    mutating func withdraw(_ job: QueuedJob) {
        remove(job)
        job.phase = .over
    }

    /// Gives a free place to who is next, if there are both.
    mutating func next() -> QueuedJob? {
        guard pendingCount > 0, runningCount < limit, !isSuspended else { return nil }
        guard let line = lines.last(where: { $0.first != Self.none }), let job = slots[Int(line.first)].job
        else { return nil }
        remove(job)
        job.phase = .handed
        runningCount += 1
        return job
    }

    /// Frees the place of a job.
    mutating func leave(_ job: QueuedJob) {
        job.phase = .over
        runningCount -= 1
    }

    private mutating func remove(_ job: QueuedJob) {
        unlink(job.slot, from: job.priority)
        slots[Int(job.slot)] = Slot(next: empty)
        empty = job.slot
        pendingCount -= 1
        // What many needed once is given back.
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
        let (line, last) = (priority.rawValue, lines[priority.rawValue].last)
        slots[Int(slot)].next = Self.none
        slots[Int(slot)].previous = last
        if last == Self.none { lines[line].first = slot } else { slots[Int(last)].next = slot }
        lines[line].last = slot
    }

    private mutating func linkFirst(_ slot: Int32, to priority: WorkPriority) {
        let (line, first) = (priority.rawValue, lines[priority.rawValue].first)
        slots[Int(slot)].next = first
        slots[Int(slot)].previous = Self.none
        if first == Self.none { lines[line].last = slot } else { slots[Int(first)].previous = slot }
        lines[line].first = slot
    }

    private mutating func unlink(_ slot: Int32, from priority: WorkPriority) {
        let (line, next, previous) = (priority.rawValue, slots[Int(slot)].next, slots[Int(slot)].previous)
        if previous == Self.none { lines[line].first = next } else { slots[Int(previous)].next = next }
        if next == Self.none { lines[line].last = previous } else { slots[Int(next)].previous = previous }
    }
}
