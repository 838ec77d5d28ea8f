internal import ExecutionContexts

/// The item that a queue holds for a job: its closure, or an object with more than a closure.
struct QueuedItem: Sendable {
    var work: Work?
    var job: QueuedJob?

    var isEmpty: Bool { work == nil && job == nil }

    /// Where the job comes from.
    var source: JobSource {
        if let work { JobSource(of: work) } else { job?.source ?? .unknown }
    }

    /// Moves the item out.
    mutating func take() -> QueuedItem {
        var taken = QueuedItem()
        swap(&self, &taken)
        return taken
    }

    /// Runs the job, and frees the closures that it consists of.
    mutating func run() {
        if let job { job.run() } else { work.take()?() }
    }

    /// Frees the closures of a job that never starts, and reports the error.
    mutating func drop(_ error: any Error) {
        if work != nil { Freeing.free(work.take()) }
        job.take()?.drop(error)
    }
}

/// The queued jobs, one list per priority, and the number of permits in use. It is used under a
/// lock.
///
/// It runs nothing. Each job has a slot, and the lists link slots by number, so a job is removed or
/// moved in constant time without touching its reference count.
///
/// | the slot | its job | its list |
/// |---|---|---|
/// | queued | waits for a permit | that of the job's priority |
/// | handed over | has a permit; the base has a request for it | the last list |
/// | reserved | none: it was cancelled | none, until the request for the slot ends |
/// | free | none | the free slots |
///
/// Over a base that may refuse or drop a request, each request is for one slot. Over a reliable
/// base requests are for `anySlot`: each runs the job that has had its permit for longest. Then no
/// slot is reserved, and there are at least as many requests as handed-over jobs.
struct PrioritizedQueueState {
    private struct Slot {
        var item = QueuedItem()
        var next = none
        var previous = none
    }
    private struct SlotList {
        var first = none
        var last = none
    }

    private static let none: Int32 = -1
    /// In place of a slot: the first job that was handed over.
    static let anySlot = none
    /// The index of the list of the jobs that were handed over.
    private static let handed = WorkPriority.highest.rawValue + 1

    private var lists = [SlotList](repeating: SlotList(), count: handed + 1)
    private var slots: [Slot] = []
    /// The first free slot; free slots are linked too.
    private var empty = none
    private var usedSlots = 0
    /// Bit n is set if a job of the priority with the raw value n is queued.
    private var priorities: UInt8 = 0
    private(set) var pendingCount = 0
    private(set) var runningCount = 0
    var limit: Int
    var isSuspended = false
    private let isBaseReliable: Bool

    init(limit: Int, isBaseReliable: Bool) {
        self.limit = limit
        self.isBaseReliable = isBaseReliable
    }

    /// Moves a job to the end of the list of its priority.
    mutating func append(_ item: inout QueuedItem, _ priority: WorkPriority) {
        let slot = takeSlot()
        item.job?.slot = slot
        slots[Int(slot)].item = item.take()
        link(slot, to: priority.rawValue)
        pendingCount += 1
    }

    /// Moves a queued job to the list of another priority; with its own priority it keeps its
    /// position.
    ///
    /// A raised job is appended. A lowered job is prepended, since all jobs of the lower priority
    /// came after it.
    mutating func move(_ job: QueuedJob, to priority: WorkPriority) {
        if job.priority == priority { return }
        unlink(job.slot, from: job.priority.rawValue)
        if priority < job.priority {
            linkFirst(job.slot, to: priority.rawValue)
        } else {
            link(job.slot, to: priority.rawValue)
        }
        job.priority = priority
    }

    /// Removes a queued job, which will never start, for the caller to free.
    mutating func withdraw(_ job: QueuedJob) -> QueuedItem {
        job.phase = .over
        unlink(job.slot, from: job.priority.rawValue)
        pendingCount -= 1
        notifyingCount += 1
        return free(job.slot)
    }

    /// The jobs with results that have not started, those without a permit first: the permit of one
    /// that was handed over passes to a waiting job when it is cancelled.
    var unstarted: [ResultJob] {
        var jobs: [ResultJob] = []
        for list in (0..<Self.handed).reversed() + [Self.handed] {
            var slot = lists[list].first
            while slot != Self.none {
                if let job = slots[Int(slot)].item.job as? ResultJob { jobs.append(job) }
                slot = slots[Int(slot)].next
            }
        }
        return jobs
    }

    /// How many jobs have ended whose submitters are still to be notified.
    var notifyingCount = 0

    /// Whether no job waits or runs, and every submitter was notified.
    var isIdle: Bool { pendingCount == 0 && runningCount == 0 && notifyingCount == 0 }

    // MARK: Permits

    /// Gives a free permit to the next job, and returns the slot for which the caller makes a
    /// request; nil if there is no permit or no job.
    mutating func next() -> Int32? {
        guard priorities != 0, runningCount < limit, !isSuspended else { return nil }
        let priority = UInt8.bitWidth - 1 - priorities.leadingZeroBitCount
        let slot = lists[priority].first
        unlink(slot, from: priority)
        link(slot, to: Self.handed)
        slots[Int(slot)].item.job?.phase = .handed
        pendingCount -= 1
        runningCount += 1
        return isBaseReliable ? Self.anySlot : slot
    }

    /// Gives a free permit to the next job, and returns the job that the calling request runs.
    ///
    /// That is the one that has had its permit for longest. A pending request runs the next job
    /// instead.
    mutating func nextHere() -> QueuedItem? { next() == nil ? nil : begin(Self.anySlot) }

    /// The request for a slot runs; returns its job, or nil if it no longer has one.
    mutating func begin(_ slot: Int32) -> QueuedItem? {
        let slot = slot == Self.anySlot ? lists[Self.handed].first : slot
        if slot == Self.none { return nil }
        if slots[Int(slot)].item.isEmpty {
            _ = free(slot)
            return nil
        }
        unlink(slot, from: Self.handed)
        let item = free(slot)
        item.job?.phase = .started
        return item
    }

    /// Whether the job of a slot reports its refusal; nil if the slot no longer has a job.
    func mayBeRefused(_ slot: Int32) -> Bool? {
        if slot == Self.anySlot { return nil }
        let item = slots[Int(slot)].item
        return item.isEmpty ? nil : item.job?.mayBeRefused ?? false
    }

    /// Where the job of a slot comes from.
    func source(of slot: Int32) -> JobSource { slots[Int(slot)].item.source }

    /// Frees the slot of a request that was refused or dropped, and the permit of its job.
    mutating func refuse(_ slot: Int32) -> QueuedItem? {
        guard let item = begin(slot) else { return nil }
        item.job?.phase = .over
        runningCount -= 1
        notifyingCount += 1
        return item
    }

    /// Removes a job that was handed over and never starts, for the caller to free.
    mutating func revoke(_ job: QueuedJob) -> QueuedItem {
        job.phase = .over
        runningCount -= 1
        notifyingCount += 1
        unlink(job.slot, from: Self.handed)
        return isBaseReliable ? free(job.slot) : slots[Int(job.slot)].item.take()
    }

    /// Returns the permit of a job that has ended, and gives it to the next one.
    mutating func nextOfEnded() -> Int32? {
        runningCount -= 1
        return next()
    }

    /// What a request does after a job.
    enum Step {
        case run(QueuedItem)
        /// The request ends; a slot needs a request, and the job's subscribers a notification.
        case end(following: Int32?, mustNotify: Bool)
    }

    /// A job of a request has run. If the request may continue, it runs the next one.
    ///
    /// It does not if subscribers must be notified first: they may wait for the next job.
    mutating func didRun(_ item: QueuedItem, mayContinue: Bool) -> Step {
        guard let job = item.job else {
            runningCount -= 1
            if mayContinue, let next = nextHere() { return .run(next) }
            return .end(following: next(), mustNotify: false)
        }
        let mustNotify = job.answersAtOnce && job.publishOutcome()
        if mustNotify { notifyingCount += 1 }
        guard job.endPart() else { return .end(following: nil, mustNotify: mustNotify) }
        runningCount -= 1
        if mayContinue, !mustNotify, let next = nextHere() { return .run(next) }
        return .end(following: next(), mustNotify: mustNotify)
    }

    // MARK: Slots

    private mutating func takeSlot() -> Int32 {
        usedSlots += 1
        guard empty != Self.none else {
            slots.append(Slot())
            return Int32(slots.count - 1)
        }
        let slot = empty
        empty = slots[Int(slot)].next
        return slot
    }

    private mutating func free(_ slot: Int32) -> QueuedItem {
        let item = slots[Int(slot)].item.take()
        slots[Int(slot)].next = empty
        empty = slot
        usedSlots -= 1
        // Release the memory of a long queue.
        if usedSlots == 0, slots.count > 1024 {
            slots = []
            empty = Self.none
        }
        return item
    }

    private mutating func link(_ slot: Int32, to list: Int) {
        let last = lists[list].last
        slots[Int(slot)].next = Self.none
        slots[Int(slot)].previous = last
        if last == Self.none { lists[list].first = slot } else { slots[Int(last)].next = slot }
        lists[list].last = slot
        if list < Self.handed { priorities |= 1 << UInt8(list) }
    }

    private mutating func linkFirst(_ slot: Int32, to list: Int) {
        let first = lists[list].first
        slots[Int(slot)].next = first
        slots[Int(slot)].previous = Self.none
        if first == Self.none { lists[list].last = slot } else { slots[Int(first)].previous = slot }
        lists[list].first = slot
        priorities |= 1 << UInt8(list)
    }

    private mutating func unlink(_ slot: Int32, from list: Int) {
        let (next, previous) = (slots[Int(slot)].next, slots[Int(slot)].previous)
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
        if list < Self.handed, lists[list].first == Self.none { priorities &= ~(1 << UInt8(list)) }
    }
}
