/// What a `LockExclusion` decides under its lock: which writes may run, and which waiters enter.
///
/// | | action | called by | precondition | result |
/// |---|---|---|---|---|
/// | submit | `enqueueWrite` | a submitter | | whether it must request a drain |
/// | | `enqueueRead` | a submitter | | effects |
/// | drain | `beginDrain` | a drain | | whether it is inside exclusively |
/// | | `takeWrites` | the thread that runs writes | it is inside exclusively | the next batch |
/// | | `endDrain` | a drain | it is inside exclusively | effects |
/// | | `noteDroppedDrain` | `LockExclusion` | the write context dropped a drain | nothing |
/// | wait | `look` | a waiter that came, was woken, or is at its deadline | | its next step |
/// | | `endHelping` | a waiter | it is inside, and has run writes | whether it stays inside |
/// | leave | `admitNext` | a caller | it has left | effects |
/// | | `takeReadyRead` | a job for an enqueued read | | a read to run |
/// | | `takeReserveRead` | the reserve thread | | a read to run |
///
/// An action runs no closure of a user, unparks no thread and submits nothing (law 9). It returns
/// these as `Effects`, which the caller performs after unlocking. The word changes while the lock
/// is held, by single steps of `Admission`.
///
/// Each waiter has a position in the sequence of the writes:
///
/// | item | may run or enter after |
/// |---|---|
/// | an enqueued write | the writes before it, and each waiting writer or enqueued read before it |
/// | a waiter | the writes that were submitted before it came |
///
/// `position` is the number of those writes. The waiter is due once `completed >= position`.
@safe struct ReadWriteStateMachine: ~Copyable {
    private let admission: Admission

    /// Writes that no thread has taken to run.
    private var writes = WorkQueue()
    /// How many writes were submitted, and how many of them have run.
    private var submitted: UInt64 = 0
    private(set) var completed: UInt64 = 0

    /// Threads and enqueued reads, in the order of arrival.
    private var waitQueue = WaiterQueue<WaitDetails>()
    /// How many of the waiters are enqueued reads.
    private var waitingReads: UInt32 = 0
    /// Enqueued reads that were admitted, and so counted in the word, and that have no thread yet.
    private var readyReads = WorkQueue()
    /// How many admitted reads have begun.
    private var begunReads: UInt64 = 0
    /// Whether the reserve thread is scheduled, which runs them if no other thread does.
    private var isReserveScheduled = false

    /// Whether a drain was requested from the write context and has not begun.
    private var isDrainRequested = false
    /// Whether the write context dropped a drain: a waiter without a time limit may help then.
    private var hasDroppedDrain = false
    /// Whether a waiter was woken and has not looked yet.
    private var isWakePending = false
    /// Whether the first waiter was overtaken for too long. No other waiter passes it then.
    private var isFirstStarving = false

    init(_ admission: Admission) { self.admission = admission }

    deinit {
        // No thread waits any more. A read is left only if the write before it will never run.
        var next = unsafe waitQueue.first
        while let waiter = unsafe next {
            unsafe next = waitQueue.next(after: waiter)
            unsafe waiter.deinitialize(count: 1)
            unsafe waiter.deallocate()
        }
    }

    private var hasWrites: Bool { completed < submitted }

    /// Whether an enqueued write may run once no caller is inside.
    private var hasDueWrites: Bool { completed < limit }

    /// How many writes may have run before the first waiting writer or enqueued read enters.
    private var limit: UInt64 {
        let first = unsafe waitQueue.first {
            unsafe !$0.pointee.details.isReader || $0.pointee.details.isEnqueuedRead
        }
        return unsafe first?.pointee.details.position ?? submitted
    }

    /// Whether the writes before a waiter have run.
    private func isDue(_ waiter: WaiterPointer) -> Bool {
        unsafe waiter.pointee.details.position <= completed
    }

    /// Copies the flags of the wait queue into the word.
    private func publish() { admission.publish(flags) }

    private var flags: ReadWriteWord {
        // An enqueued read closes admission too, or a later writer would overtake it.
        ReadWriteWord(
            isClosed: hasWrites || isFirstStarving || waitingReads > 0,
            hasWaiters: !waitQueue.isEmpty, isWakePending: isWakePending)
    }

    // MARK: Submitting

    mutating func enqueueWrite(_ write: consuming @escaping Work) -> Bool {
        writes.append(write)
        submitted += 1
        let mustRequestDrain = noteDrainRequest()
        publish()
        return mustRequestDrain
    }

    /// Notes that a drain is requested; false if one was already.
    private mutating func noteDrainRequest() -> Bool {
        defer { isDrainRequested = true }
        return !isDrainRequested
    }

    mutating func enqueueRead(_ read: consuming @escaping Work, by thread: ThreadRecord) -> Effects
    {
        let waiter = WaiterPointer.allocate(capacity: 1)
        var details = unsafe WaitDetails(isReader: true, for: thread)
        details.job = consume read
        details.position = submitted
        unsafe waiter.initialize(to: Waiter(thread, details))
        unsafe waitQueue.append(waiter)
        waitingReads += 1
        return admitNext()
    }

    // MARK: Running writes

    mutating func beginDrain(_ thread: ThreadRecord) -> Bool {
        isDrainRequested = false
        // Drains arrive again: no waiter needs to replace the write context.
        hasDroppedDrain = false
        return unsafe hasDueWrites && admission.tryExclude(thread)
    }

    /// Moves the writes that may run into `batch`, whose thread has run `ran` since `completed`.
    mutating func takeWrites(into batch: inout WorkQueue, ran: UInt64) {
        let (done, limit) = (completed + ran, limit)
        // A waiter takes its position before it queues. So once a waiting writer has given up, the
        // next one may have a position below `done`.
        let room = limit > done ? limit - done : 0
        if room >= UInt64(writes.count) {
            writes.reuse(&batch)
            batch = writes.takeAll()
        } else {
            for _ in 0..<room { if let write = writes.popFirst() { batch.append(write) } }
        }
    }

    mutating func endDrain(ran: UInt64) -> Effects {
        completed += ran
        return leaveExclusive()
    }

    /// Ends helping; false if another waiter comes first. The helper is no longer inside then.
    mutating func endHelping(
        _ waiter: WaiterPointer, ran: UInt64, _ effects: inout Effects
    ) -> Bool {
        completed += ran
        let isReader = unsafe waiter.pointee.details.isReader
        guard unsafe isDue(waiter) && (isReader || !hasReadyRead(before: waiter)) else {
            // A waiting writer precedes it, or, if it is a writer, an enqueued read that is ready.
            effects = leaveExclusive()
            return false
        }
        if isReader { admission.becomeReader() }
        unsafe leaveQueue(waiter, &effects)
        return true
    }

    private mutating func leaveExclusive() -> Effects {
        admission.leaveExclusive(publishing: flags)
        return admitNext()
    }

    mutating func noteDroppedDrain() {
        hasDroppedDrain = true
        isDrainRequested = hasWrites
    }

    // MARK: Running enqueued reads

    private mutating func removeRead(_ waiter: WaiterPointer) -> Work? {
        unsafe remove(waiter)
        waitingReads -= 1
        let read = unsafe waiter.pointee.details.job.take()
        unsafe waiter.deinitialize(count: 1)
        unsafe waiter.deallocate()
        return read
    }

    mutating func takeReadyRead() -> Work? {
        guard let read = readyReads.popFirst() else { return nil }
        begunReads += 1
        return read
    }

    /// Schedules the reserve thread for the ready reads; nil if there are none.
    ///
    /// Returns how many reads have begun, so that the thread finds out whether one begins.
    private mutating func scheduleReserve() -> UInt64? {
        isReserveScheduled = !readyReads.isEmpty
        return isReserveScheduled ? begunReads : nil
    }

    /// A read for the reserve thread, unless one has begun since it was scheduled.
    mutating func takeReserveRead(since begun: UInt64, _ effects: inout Effects) -> Work? {
        let read = begunReads == begun ? takeReadyRead() : nil
        effects.reserve = scheduleReserve()
        return read
    }

    // MARK: Admitting the next waiters

    /// Admits or wakes the waiters that can enter, and requests a drain if one is due.
    ///
    /// 1. Publish the flags. If a writer is inside, it does the rest when it leaves.
    /// 2. Count the readers that may enter now; while writes are due, they would be kept out.
    /// 3. If writes are due and no caller is inside, request a drain, and wake a helper.
    /// 4. If no write is due, wake the first waiter that can enter.
    /// 5. If no waiter can enter, wake the first one, so that it sets its starvation deadline.
    mutating func admitNext() -> Effects {
        var effects = Effects()
        // First, so that a thread that is inside, or enters meanwhile, calls this when it leaves.
        publish()
        if admission.latest.isExclusive { return effects }
        admitReaders(&effects)
        // In a simulation each admitted read gets a thread.
        if !readyReads.isEmpty, !isReserveScheduled, SimulationHooks.current == nil {
            effects.reserve = scheduleReserve()
        }
        let isEmpty = !admission.current.hasCountedReaders && !admission.hasSlotReaders
        if !hasDueWrites {
            unsafe wake(firstReady(besideReaders: !isEmpty), &effects)
        } else if isEmpty {
            effects.mustRequestDrain = noteDrainRequest()
            unsafe wake(firstHelper, &effects)
        }
        if effects.unparks.isEmpty, let first = unsafe overtaken {
            unsafe first.pointee.details.hasStarvationDeadline = true
            effects.unparks.append(unsafe first.pointee.parker)
        }
        publish()
        return effects
    }

    /// Counts the ready enqueued reads and, while writes wait, the ready waiting readers, which the
    /// writes submitted after them would keep out.
    ///
    /// No reader passes a first waiter that starves.
    private mutating func admitReaders(_ effects: inout Effects) {
        guard waitingReads > 0 || hasWrites else { return }
        var next = unsafe waitQueue.first
        while let waiter = unsafe next {
            unsafe next = waitQueue.next(after: waiter)
            let isEnqueued = unsafe waiter.pointee.details.isEnqueuedRead
            guard
                unsafe isDue(waiter) && waiter.pointee.details.isReader
                    && (isEnqueued || hasWrites)
            else {
                // Behind an enqueued read that waits for writes no waiter is ready.
                if isFirstStarving || isEnqueued { return }
                continue
            }
            guard admission.admitReader() else { return }
            if isEnqueued {
                guard let read = unsafe removeRead(waiter) else { continue }
                readyReads.append(read)
                effects.readsToRun += 1
            } else {
                unsafe remove(waiter)
                unsafe waiter.pointee.isAdmitted = true
                effects.unparks.append(unsafe waiter.pointee.parker)
            }
        }
    }

    private mutating func wake(_ waiter: WaiterPointer?, _ effects: inout Effects) {
        guard let waiter = unsafe waiter, !isWakePending else { return }
        isWakePending = true
        unsafe waiter.pointee.isWoken = true
        effects.unparks.append(unsafe waiter.pointee.parker)
    }

    // MARK: The wait queue

    private mutating func remove(_ waiter: WaiterPointer) {
        if unsafe waiter.pointee.isWoken { isWakePending = false }
        if unsafe waiter == waitQueue.first { isFirstStarving = false }
        unsafe waitQueue.remove(waiter)
    }

    /// The first waiter, if only threads inside keep it out and it has no starvation deadline.
    private var overtaken: WaiterPointer? {
        guard let first = unsafe waitQueue.first,
            unsafe !first.pointee.details.hasStarvationDeadline
                && !first.pointee.details.isEnqueuedRead && isDue(first)
        else { return nil }
        return unsafe first
    }

    /// The first waiter that may run writes itself, or drive the write context.
    private var firstHelper: WaiterPointer? {
        guard waitQueue.count > waitingReads else { return nil }
        return unsafe waitQueue.first { unsafe mayHelp($0) || $0.pointee.details.drives }
    }

    /// The first waiting thread that can enter, while no thread is inside exclusively.
    private func firstReady(besideReaders: Bool) -> WaiterPointer? {
        func canEnter(_ waiter: WaiterPointer) -> Bool {
            unsafe (waiter.pointee.details.isReader || !besideReaders) && isDue(waiter)
        }
        // No waiter passes a first one that starves. `admitReaders` admits enqueued reads, and
        // behind one that waits for writes no waiter is ready.
        let first = unsafe waitQueue.first {
            unsafe isFirstStarving || $0.pointee.details.isEnqueuedRead || canEnter($0)
        }
        return unsafe first.flatMap {
            unsafe !$0.pointee.details.isEnqueuedRead && canEnter($0) ? $0 : nil
        }
    }

    /// Whether an enqueued read that can be admitted is queued before `waiter`.
    private func hasReadyRead(before waiter: WaiterPointer) -> Bool {
        guard waitingReads > 0 else { return false }
        let first = unsafe waitQueue.first {
            unsafe $0 == waiter || $0.pointee.details.isEnqueuedRead
        }
        return unsafe first.map { unsafe $0 != waiter && isDue($0) } ?? false
    }

    // MARK: The look of a waiter

    /// Decides what a waiter does next.
    ///
    /// 1. If it was admitted, it enters.
    /// 2. At the first look it takes its position.
    /// 3. If it was woken, publish that its wake-up is no longer pending.
    /// 4. Try to enter, or to help.
    /// 5. At its deadline, give up.
    /// 6. If it is not queued, join the wait queue, publish that, and try once more: a thread that
    ///    left before the publication woke no waiter.
    /// 7. Park.
    mutating func look(
        _ waiter: WaiterPointer, until deadline: Int64, _ effects: inout Effects
    ) -> WaitStep {
        if unsafe waiter.pointee.isAdmitted { return .enter }
        if unsafe waiter.pointee.details.position == .max {
            unsafe waiter.pointee.details.position = submitted
        }
        if deadline == Parker.never, unsafe needsForecast(waiter) { return .forecast }
        let wasWoken = unsafe waiter.pointee.isWoken
        if wasWoken {
            unsafe waiter.pointee.isWoken = false
            isWakePending = false
            // Before the try, so that a thread that leaves after it wakes a waiter.
            publish()
        }
        while true {
            if let step = unsafe tryToEnter(waiter, &effects) { return step }
            let now = unsafe SimulationHooks.now(waiter.pointee.thread)
            if deadline == .min || now >= deadline {
                if unsafe waiter.pointee.details.isQueued { unsafe remove(waiter) }
                effects = admitNext()
                return .giveUp
            }
            if unsafe waiter.pointee.details.isQueued {
                let end = unsafe starvationDeadline(waiter, now: now)
                // While this wake-up was pending no other waiter was woken: wake the next.
                if wasWoken { effects = admitNext() }
                return unsafe awaitsDrain(waiter) ? .awaitDrain : .park(until: min(deadline, end))
            }
            unsafe waitQueue.append(waiter)
            unsafe waiter.pointee.details.isQueued = true
            publish()
        }
    }

    /// Lets a waiter enter or help, if it can.
    ///
    /// | the writes before it | the waiter | condition |
    /// |---|---|---|
    /// | have not all run | helps | it may, a write is due, and no caller is inside |
    /// | have run | reads | no writer is inside |
    /// | have run | writes | no caller is inside, and no ready enqueued read is before it |
    ///
    /// Only the first waiter enters while it starves.
    private mutating func tryToEnter(_ waiter: WaiterPointer, _ effects: inout Effects)
        -> WaitStep?
    {
        let thread = unsafe waiter.pointee.thread
        guard unsafe isDue(waiter) else {
            let helps = unsafe mayHelp(waiter) && hasDueWrites && admission.tryExclude(thread)
            return helps ? .help : nil
        }
        if unsafe isFirstStarving && waitQueue.first != waiter { return nil }
        let isInside =
            unsafe waiter.pointee.details.isReader
            ? admission.admitReader()
            : !hasReadyRead(before: waiter) && admission.tryExclude(thread)
        guard isInside else { return nil }
        unsafe leaveQueue(waiter, &effects)
        return .enter
    }

    /// A waiter that is inside leaves the queue.
    private mutating func leaveQueue(_ waiter: WaiterPointer, _ effects: inout Effects) {
        if unsafe waiter.pointee.details.isQueued { unsafe remove(waiter) }
        // Other waiters may enter beside a reader, and not beside a writer.
        if unsafe waiter.pointee.details.isReader { effects = admitNext() } else { publish() }
    }

    /// When the first waiter, kept out only by threads that are inside, closes admission.
    ///
    /// By the clock: overlapping readers, each entering before another leaves, wake no waiter.
    private mutating func starvationDeadline(_ waiter: WaiterPointer, now: Int64) -> Int64 {
        guard unsafe waitQueue.first == waiter && isDue(waiter) else { return Parker.never }
        unsafe waiter.pointee.details.hasStarvationDeadline = true
        let end = unsafe waiter.pointee.since + 1_000_000
        if now < end { return end }
        isFirstStarving = true
        publish()
        return Parker.never
    }

    /// Whether a waiter needs a drain on the write context, which is requested.
    private func awaitsDrain(_ waiter: WaiterPointer) -> Bool {
        // The hint suffices: a writer admits waiters under the lock when it leaves.
        unsafe waiter.pointee.details.drives && !isDue(waiter) && isDrainRequested
            && !admission.hint.isExclusive
    }

    private func mayHelp(_ waiter: WaiterPointer) -> Bool {
        unsafe waiter.pointee.details.helps
            || hasDroppedDrain && waiter.pointee.details.helpsWithDropped
    }

    /// Whether a waiter must learn before it queues if the write context can run what precedes it.
    private func needsForecast(_ waiter: WaiterPointer) -> Bool {
        unsafe !waiter.pointee.details.hasForeseen && !waiter.pointee.details.helps
            && !isDue(waiter)
    }
}

/// What a state machine asks for, performed by `LockExclusion` after unlocking.
///
/// | done under the lock | asked for | what follows |
/// |---|---|---|
/// | count a waiting reader | `unparks` | it is inside |
/// | mark a waiter as woken | `unparks` | it looks, and tries to enter |
/// | give the first waiter a starvation deadline | `unparks` | it parks until that deadline |
/// | count an enqueued read | `readsToRun` | it runs on the global context |
/// | note that the reserve thread is scheduled | `reserve` | it begins in a millisecond |
/// | note that a drain is requested | `mustRequestDrain` | the write context drains |
struct Effects: ~Copyable {
    var unparks: [Parker] = []
    var mustRequestDrain = false
    var readsToRun = 0
    /// How many reads had begun when the reserve thread was requested, or nil.
    var reserve: UInt64?
}

/// What a waiter does next, after a look under the lock.
enum WaitStep {
    case enter, giveUp
    case park(until: Int64)
    /// The waiter is inside exclusively, to run the writes before it.
    case help
    /// The waiter must find out whether the write context can run the writes before it.
    case forecast
    /// The writes before it need a drain that it may have to drive, or that never begins.
    case awaitDrain
}

/// What a coordinator knows of a waiter: a thread, or an enqueued read.
struct WaitDetails {
    /// Whether it waits to read, and not to write.
    let isReader: Bool
    /// Whether the thread may help: run the writes that it waits for.
    var helps = false
    /// Whether the thread may also help once the write context has dropped its drain.
    var helpsWithDropped = false
    /// How many enqueued writes precede it.
    var position: UInt64 = 0
    /// Whether it has its wait forecast.
    private(set) var hasForeseen: Bool
    /// Whether it waits for the drain: the write context may need a driver, or may never run.
    private(set) var drives = false
    /// Whether it is in the wait queue; a waiter may try to enter before it joins.
    var isQueued = false
    /// Whether it is the first, and limits by the clock how long it is overtaken.
    var hasStarvationDeadline = false
    /// The read that waits without a thread, or nil for a thread.
    var job: Work?

    var isEnqueuedRead: Bool { job != nil }

    init(isReader: Bool, for thread: ThreadRecord) {
        self.isReader = isReader
        // A simulation itself reports that no thread can continue.
        hasForeseen = unsafe SimulationHooks.simulation(of: thread) != nil
    }

    /// Records whether the waiter must drive the write context itself; called before it queues.
    mutating func foresee(_ mustDrive: Bool) {
        hasForeseen = true
        drives = mustDrive
    }
}

/// A waiter in place: on the stack of its thread, or in the block of an enqueued read.
typealias WaiterPointer = UnsafeMutablePointer<Waiter<WaitDetails>>

extension WaiterQueue<WaitDetails> {
    fileprivate func first(where matches: (WaiterPointer) -> Bool) -> WaiterPointer? {
        var next = unsafe first
        while let waiter = unsafe next, unsafe !matches(waiter) {
            unsafe next = self.next(after: waiter)
        }
        return unsafe next
    }
}
