/// The queues of a coordinator: enqueued writes, and waiters, which are threads and enqueued reads.
///
/// Guarded by the coordinator's lock. Each waiter has a position in the sequence of the writes:
///
/// | item | may run or enter after |
/// |---|---|
/// | an enqueued write | the writes before it, and each waiting writer or enqueued read before it |
/// | a waiter | the writes that were submitted when it came: `position` of them |
@safe struct CoordinatorQueues: ~Copyable {
    /// Writes that no thread has taken to run.
    var writes = WorkQueue()
    /// How many writes were submitted, and how many of them have run.
    var submitted: UInt64 = 0
    var completed: UInt64 = 0

    /// Threads and enqueued reads, in the order of arrival.
    var waitQueue = WaiterQueue()
    /// How many of the waiters are enqueued reads.
    private(set) var jobs: UInt32 = 0
    /// Admitted enqueued reads, counted in the word, for the next thread that comes for them.
    var ready = WorkQueue()
    /// How many admitted reads have begun.
    var begun: UInt64 = 0
    /// Whether the reserve thread is scheduled, which runs them if no other thread does.
    var isReserveScheduled = false

    /// Whether a drain was requested from the write context and has not begun.
    var isDrainRequested = false
    /// Whether the write context dropped a drain: a waiter without a time limit may help then.
    var hasDroppedDrain = false
    /// Whether a waiter was woken and has not looked yet.
    var isWakePending = false
    /// Whether the first waiter was overtaken for too long.
    var isFirstStarving = false

    var hasWrites: Bool { completed < submitted }

    deinit {
        // No thread waits any more. A read is left only if the write before it will never run.
        var next = unsafe waitQueue.first
        while let waiter = unsafe next {
            unsafe next = waitQueue.next(after: waiter)
            unsafe waiter.deinitialize(count: 1)
            unsafe waiter.deallocate()
        }
    }

    /// How many writes may have run before the first waiting writer or enqueued read enters.
    var limit: UInt64 {
        var next = unsafe waitQueue.first
        while let waiter = unsafe next {
            if unsafe waiter.pointee.request == .exclusive || waiter.pointee.job != nil {
                return unsafe waiter.pointee.position
            }
            unsafe next = waitQueue.next(after: waiter)
        }
        return submitted
    }

    var flags: UInt64 {
        // An enqueued read closes admission too, or a later writer would overtake it.
        (hasWrites || isFirstStarving || jobs > 0 ? ReadWriteState.closed : 0)
            | (waitQueue.isEmpty ? 0 : ReadWriteState.hasWaiters)
            | (isWakePending ? ReadWriteState.wakePending : 0)
    }

    mutating func append(_ write: consuming @escaping Work) {
        writes.append(write)
        submitted += 1
    }

    mutating func appendRead(_ read: consuming @escaping Work, by thread: ThreadRecord) {
        let waiter = UnsafeMutablePointer<Waiter>.allocate(capacity: 1)
        unsafe waiter.initialize(to: Waiter(thread, .shared))
        unsafe waiter.pointee.job = consume read
        unsafe waiter.pointee.position = submitted
        unsafe waitQueue.append(waiter)
        jobs += 1
    }

    /// Removes an enqueued read and returns it.
    mutating func removeJob(_ waiter: UnsafeMutablePointer<Waiter>) -> Work? {
        unsafe remove(waiter)
        jobs -= 1
        let job = unsafe waiter.pointee.job.take()
        unsafe waiter.deinitialize(count: 1)
        unsafe waiter.deallocate()
        return job
    }

    /// Takes an admitted read, to be run.
    mutating func nextReady() -> Work? {
        guard let read = ready.popFirst() else { return nil }
        begun += 1
        return read
    }

    /// Whether an enqueued read that can be admitted is queued before `waiter`.
    func hasReadyJob(before waiter: UnsafeMutablePointer<Waiter>) -> Bool {
        guard jobs > 0 else { return false }
        var next = unsafe waitQueue.first
        while let other = unsafe next, unsafe other != waiter {
            if unsafe other.pointee.job != nil { return unsafe other.pointee.position <= completed }
            unsafe next = waitQueue.next(after: other)
        }
        return false
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

    mutating func remove(_ waiter: UnsafeMutablePointer<Waiter>) {
        if unsafe waiter.pointee.isWoken { isWakePending = false }
        if unsafe waiter == waitQueue.first { isFirstStarving = false }
        unsafe waitQueue.remove(waiter)
    }

    func mayHelp(_ waiter: UnsafeMutablePointer<Waiter>) -> Bool {
        unsafe waiter.pointee.helps || hasDroppedDrain && waiter.pointee.helpsWithDropped
    }

    /// Whether a waiter, not yet queued, needs to know if the write context can run the writes
    /// before it.
    func needsForecast(_ waiter: UnsafeMutablePointer<Waiter>) -> Bool {
        unsafe !waiter.pointee.hasForeseen && !waiter.pointee.helps
            && waiter.pointee.position > completed
    }

    /// The first waiter, if only threads inside keep it out and it does not look at the clock yet.
    var overtaken: UnsafeMutablePointer<Waiter>? {
        guard let first = unsafe waitQueue.first,
            unsafe !first.pointee.isTiming && first.pointee.job == nil,
            unsafe first.pointee.position <= completed
        else { return nil }
        return unsafe first
    }

    /// The first waiter that may run writes itself, or drive the write context.
    var firstHelper: UnsafeMutablePointer<Waiter>? {
        guard waitQueue.count > jobs else { return nil }
        var next = unsafe waitQueue.first
        while let waiter = unsafe next {
            if unsafe mayHelp(waiter) || waiter.pointee.drives { return unsafe waiter }
            unsafe next = waitQueue.next(after: waiter)
        }
        return nil
    }

    /// The first waiting thread that can enter, while no thread is inside exclusively.
    ///
    /// No thread passes a first waiter that starves.
    func next(isRead: Bool) -> UnsafeMutablePointer<Waiter>? {
        var next = unsafe waitQueue.first
        while let waiter = unsafe next {
            // `admitNext` admits enqueued reads. Behind one that waits for writes no waiter is
            // ready.
            if unsafe waiter.pointee.job != nil { return nil }
            let isReady = unsafe waiter.pointee.position <= completed
            if unsafe isReady && (waiter.pointee.request == .shared || !isRead) {
                return unsafe waiter
            }
            if isFirstStarving { return nil }
            unsafe next = waitQueue.next(after: waiter)
        }
        return nil
    }
}
