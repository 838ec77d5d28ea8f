/// Those who wait at a coordinator: enqueued writes, threads, and reads that wait without a thread.
///
/// Guarded by the coordinator's lock. Every enqueued write has a position; whoever waits comes behind the writes
/// that had been submitted when it came, and an enqueued write behind a waiting writer waits for that one.
@safe struct WriteLine: ~Copyable {
    /// Writes that nobody has taken out yet.
    var writes = WorkQueue()
    /// How many writes have been submitted, and how many have been run.
    var submitted: UInt64 = 0
    var completed: UInt64 = 0

    var waiting = WaitLine()
    /// Reads that wait for their turn, each with its position.
    var reads = PositionedQueue()
    /// Reads that have been counted in, for whoever runs them first.
    var ready = WorkQueue()

    /// Whether the carrier was asked for a turn that has not begun.
    var isTurnComing = false
    /// Whether the carrier has let go of a turn: who waits for as long as it takes may help then.
    var hasLostTurn = false
    /// Whether a waiter was told and has not looked yet.
    var isWakePending = false
    /// Whether the first in line has been overtaken too long.
    var isFirstStarving = false

    var hasWrites: Bool { completed < submitted }

    /// How many of the writes may run before a waiting writer's turn.
    var limit: UInt64 {
        var next = unsafe waiting.first
        while let waiter = unsafe next {
            if unsafe waiter.pointee.wish == .exclusive { return unsafe waiter.pointee.position }
            unsafe next = waiting.next(after: waiter)
        }
        return submitted
    }

    var flags: UInt64 {
        (hasWrites || isFirstStarving ? ReadWriteState.closed : 0)
            | (waiting.isEmpty && reads.isEmpty ? 0 : ReadWriteState.waited)
            | (isWakePending ? ReadWriteState.told : 0)
    }

    mutating func append(_ write: @escaping Work) {
        writes.append(write)
        submitted += 1
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

    /// The first in line, if it could enter but for others, and does not look at the clock yet.
    var overtaken: UnsafeMutablePointer<Waiter>? {
        guard let first = unsafe waiting.first, unsafe !first.pointee.isTiming,
            unsafe first.pointee.position <= completed
        else { return nil }
        return unsafe first
    }

    /// The first who may run writes itself.
    var firstHelper: UnsafeMutablePointer<Waiter>? {
        var next = unsafe waiting.first
        while let waiter = unsafe next {
            if unsafe mayHelp(waiter) { return unsafe waiter }
            unsafe next = waiting.next(after: waiter)
        }
        return nil
    }

    /// The first who waits and could enter, while nobody is inside alone; a starving first is not passed over.
    func next(isRead: Bool) -> UnsafeMutablePointer<Waiter>? {
        var next = unsafe waiting.first
        while let waiter = unsafe next {
            let isReady = unsafe waiter.pointee.position <= completed
            if unsafe isReady && (waiter.pointee.wish == .shared || !isRead) { return unsafe waiter }
            if isFirstStarving { return nil }
            unsafe next = waiting.next(after: waiter)
        }
        return nil
    }
}

/// Work with positions, first in first out.
struct PositionedQueue: ~Copyable {
    private var works = WorkQueue()
    private var positions = PositionQueue()

    var isEmpty: Bool { works.isEmpty }

    mutating func append(_ work: @escaping Work, at position: UInt64) {
        works.append(work)
        positions.append(Int(position))
    }

    /// Whether there is one whose position is not beyond `position`.
    func hasFirst(upTo position: UInt64) -> Bool {
        guard let first = positions.first else { return false }
        return first <= position
    }

    mutating func popFirst() -> Work? {
        guard positions.first != nil else { return nil }
        positions.removeFirst()
        return works.popFirst()
    }
}
