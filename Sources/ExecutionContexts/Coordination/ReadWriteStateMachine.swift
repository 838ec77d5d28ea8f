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
    let admission: Admission

    /// Writes that no thread has taken to run.
    private var writes = WorkQueue()
    /// How many writes were submitted, and how many of them have run.
    private(set) var submitted: UInt64 = 0
    private(set) var completed: UInt64 = 0

    /// Threads and enqueued reads, in the order of arrival.
    var waitQueue = WaiterQueue<WaitDetails>()
    /// How many of the waiters are enqueued reads.
    private(set) var waitingReads: UInt32 = 0
    /// Enqueued reads that were admitted, and so counted in the word, and that have no thread yet.
    var readyReads = WorkQueue()
    /// How many admitted reads have begun.
    private var begunReads: UInt64 = 0
    /// Whether the reserve thread is scheduled, which runs them if no other thread does.
    private(set) var isReserveScheduled = false

    /// Whether a drain was requested from the write context and has not begun.
    var isDrainRequested = false
    /// Whether the write context dropped a drain: a waiter without a time limit may help then.
    private(set) var hasDroppedDrain = false
    /// Whether a waiter was woken and has not looked yet.
    var isWakePending = false
    /// Whether the first waiter was overtaken for too long. No other waiter passes it then.
    var isFirstStarving = false

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

    // MARK: Questions

    var hasWrites: Bool { completed < submitted }

    /// Whether an enqueued write may run once no caller is inside.
    var hasDueWrites: Bool { completed < limit }

    /// How many writes may have run before the first waiting writer or enqueued read enters.
    private var limit: UInt64 {
        let first = unsafe waitQueue.first {
            unsafe $0.pointee.details.request == .exclusive || $0.pointee.details.isEnqueuedRead
        }
        return unsafe first?.pointee.details.position ?? submitted
    }

    /// Whether the writes before a waiter have run.
    func isDue(_ waiter: WaiterPointer) -> Bool {
        unsafe waiter.pointee.details.position <= completed
    }

    /// Copies the flags of the wait queue into the word.
    func publish() { admission.publish(flags) }

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
    mutating func noteDrainRequest() -> Bool {
        defer { isDrainRequested = true }
        return !isDrainRequested
    }

    mutating func enqueueRead(_ read: consuming @escaping Work, by thread: ThreadRecord) -> Effects
    {
        let waiter = WaiterPointer.allocate(capacity: 1)
        var details = unsafe WaitDetails(.shared, for: thread)
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

    /// Moves the writes that may run into `batch`; its thread, inside exclusively, has run `ran` of
    /// them.
    mutating func takeWrites(into batch: inout WorkQueue, ran: UInt64) {
        let (done, limit) = (completed + ran, limit)
        // Once a waiting writer has given up, the next one may have a position below `done`: it
        // took the position before it joined the wait queue.
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
        let isReader = unsafe waiter.pointee.details.request == .shared
        guard unsafe isDue(waiter) && (isReader || !hasReadyRead(before: waiter)) else {
            // A waiting writer stands between, or, before a writer, an enqueued read that is ready.
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

    /// Removes an enqueued read from the wait queue and returns it.
    mutating func removeRead(_ waiter: WaiterPointer) -> Work? {
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
    /// Returns how many reads have begun, so that the thread finds out whether one begins until
    /// then.
    mutating func scheduleReserve() -> UInt64? {
        isReserveScheduled = !readyReads.isEmpty
        return isReserveScheduled ? begunReads : nil
    }

    /// A read for the reserve thread, unless one has begun since it was scheduled.
    mutating func takeReserveRead(since begun: UInt64, _ effects: inout Effects) -> Work? {
        let read = begunReads == begun ? takeReadyRead() : nil
        effects.reserve = scheduleReserve()
        return read
    }
}
