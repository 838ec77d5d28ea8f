/// The queues of a coordinator: enqueued writes, and waiters, which are threads and enqueued reads.
///
/// Guarded by the coordinator's lock. Every enqueued write has a position. A waiter stands behind the writes that
/// had been submitted when it came. An enqueued write behind a waiting writer or an enqueued read waits for that one.
@safe struct WriteLine: ~Copyable {
    /// Writes that nobody has taken out yet.
    var writes = WorkQueue()
    /// How many writes have been submitted, and how many have been run.
    var submitted: UInt64 = 0
    var completed: UInt64 = 0

    /// Threads and enqueued reads, first come first.
    var waiting = WaitLine()
    /// How many of the waiters are enqueued reads.
    private(set) var jobs: UInt32 = 0
    /// Enqueued reads that have been counted in, for the first thread that comes for them.
    var ready = WorkQueue()
    /// How many of these have begun.
    var begun: UInt64 = 0
    /// Whether a thread of the system's will come for them if no other does.
    var isReserveComing = false

    /// Whether the carrier was asked for a turn that has not begun.
    var isTurnComing = false
    /// Whether the carrier has let go of a turn: who waits for as long as it takes may help then.
    var hasLostTurn = false
    /// Whether a waiter was told and has not looked yet.
    var isWakePending = false
    /// Whether the first in line has been overtaken too long.
    var isFirstStarving = false

    var hasWrites: Bool { completed < submitted }

    deinit {
        // No thread waits any more, and a read only where nothing will ever run the write before it.
        var next = unsafe waiting.first
        while let waiter = unsafe next {
            unsafe next = waiting.next(after: waiter)
            unsafe waiter.deinitialize(count: 1)
            unsafe waiter.deallocate()
        }
    }

    /// How many of the writes may run before the first waiting writer or enqueued read.
    var limit: UInt64 {
        var next = unsafe waiting.first
        while let waiter = unsafe next {
            if unsafe waiter.pointee.wish == .exclusive || waiter.pointee.job != nil {
                return unsafe waiter.pointee.position
            }
            unsafe next = waiting.next(after: waiter)
        }
        return submitted
    }

    var flags: UInt64 {
        // An enqueued read closes the doors as well, or a writer that comes later would overtake it.
        (hasWrites || isFirstStarving || jobs > 0 ? ReadWriteState.closed : 0)
            | (waiting.isEmpty ? 0 : ReadWriteState.waited)
            | (isWakePending ? ReadWriteState.told : 0)
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
        unsafe waiting.append(waiter)
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

    /// Takes a read that has been counted in, to be run.
    mutating func nextReady() -> Work? {
        guard let read = ready.popFirst() else { return nil }
        begun += 1
        return read
    }

    /// Whether an enqueued read that could be let in stands before `waiter`, which is to be let in behind it.
    func hasReadyJob(before waiter: UnsafeMutablePointer<Waiter>) -> Bool {
        guard jobs > 0 else { return false }
        var next = unsafe waiting.first
        while let other = unsafe next, unsafe other != waiter {
            if unsafe other.pointee.job != nil { return unsafe other.pointee.position <= completed }
            unsafe next = waiting.next(after: other)
        }
        return false
    }

    /// Moves out what may run now, for whoever is inside alone and has run `ran` writes since it entered.
    mutating func takeWrites(into batch: inout WorkQueue, ran: UInt64) {
        let (done, limit) = (completed + ran, limit)
        // A waiting writer that has given up meanwhile may leave one before it that came back late.
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
        if unsafe waiter == waiting.first { isFirstStarving = false }
        unsafe waiting.remove(waiter)
    }

    func mayHelp(_ waiter: UnsafeMutablePointer<Waiter>) -> Bool {
        unsafe waiter.pointee.helps || hasLostTurn && waiter.pointee.helpsWithLost
    }

    /// Whether it is to be found out for a waiter, which has not joined the line, if the carrier
    /// can run the writes before.
    func mustForesee(_ waiter: UnsafeMutablePointer<Waiter>) -> Bool {
        unsafe !waiter.pointee.hasForeseen && !waiter.pointee.helps && waiter.pointee.position > completed
    }

    /// The first in line, if it could enter but for others, and does not look at the clock yet.
    var overtaken: UnsafeMutablePointer<Waiter>? {
        guard let first = unsafe waiting.first, unsafe !first.pointee.isTiming && first.pointee.job == nil,
            unsafe first.pointee.position <= completed
        else { return nil }
        return unsafe first
    }

    /// The first who may run writes itself, or drive the carrier.
    var firstHelper: UnsafeMutablePointer<Waiter>? {
        guard waiting.count > jobs else { return nil }
        var next = unsafe waiting.first
        while let waiter = unsafe next {
            if unsafe mayHelp(waiter) || waiter.pointee.drives { return unsafe waiter }
            unsafe next = waiting.next(after: waiter)
        }
        return nil
    }

    /// The first waiting thread that could enter, while no thread is inside alone. No thread passes a
    /// first waiter that starves.
    func next(isRead: Bool) -> UnsafeMutablePointer<Waiter>? {
        var next = unsafe waiting.first
        while let waiter = unsafe next {
            // Enqueued reads are let in by `settle`; behind one that waits for writes nothing is ready.
            if unsafe waiter.pointee.job != nil { return nil }
            let isReady = unsafe waiter.pointee.position <= completed
            if unsafe isReady && (waiter.pointee.wish == .shared || !isRead) { return unsafe waiter }
            if isFirstStarving { return nil }
            unsafe next = waiting.next(after: waiter)
        }
        return nil
    }
}
