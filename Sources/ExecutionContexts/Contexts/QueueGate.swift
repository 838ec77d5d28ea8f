internal import Dispatch

extension Outlook {
    /// Has the system find out whether a queue that the caller is on is serial, which a queue does
    /// not tell.
    ///
    /// Of a serial one the system traps; a concurrent one runs the block beside the caller.
    mutating func ask(_ queue: DispatchQueue) { probe = (queue.label, { queue.sync {} }) }
}

/// The three ways to wait for a dispatch queue that keeps barriers: beside others, alone, and alone for a while.
///
/// A thread that is inside by one of them is known by a frame, since the queue's key is hidden by a nested `sync`
/// to another queue (law 4).
struct QueueGate: Sendable {
    let queue: DispatchQueue
    let mark: QueueMark

    init(_ queue: DispatchQueue) {
        self.queue = queue
        mark = .of(queue)
    }

    /// Yes on this queue, on queues that target it, and for who holds it; otherwise not known.
    var isCurrent: Bool? { mark.isOccupied || mark.holding.isMine ? true : nil }

    /// Whether the caller is known to have the queue to itself.
    var isExclusive: Bool { unsafe mark.holding.isMine || Frame.isCurrent(mark.exclusive) }

    /// Whether the caller is known to read, by `read`, and so not to have the queue to itself.
    var isReading: Bool { unsafe !isExclusive && Frame.isCurrent(mark.reading) }

    /// Waits for `body` to run beside other work; where the caller is inside, it runs at once.
    func read<Value, Failure: Error>(
        _ body: () throws(Failure) -> Value
    ) throws(Failure) -> Value {
        if isCurrent == true || isExclusive || isReading { return try body() }
        let caller = Caller.current
        return try LentThread.calling {
            queue.sync {
                if caller.isHere {
                    return Result { () throws(Failure) in try unsafe Frame.enter(mark.reading, body) }
                }
                return caller.result { () throws(Failure) in try unsafe Frame.enter(mark.reading, body) }
            }
        }.get()
    }

    /// Waits for `body` to run alone; where the caller is alone, it runs at once.
    func exclude<Value, Failure: Error>(
        _ body: () throws(Failure) -> Value
    ) throws(Failure) -> Value {
        if isExclusive { return try body() }
        let caller = Caller.current
        return try LentThread.calling {
            queue.sync(flags: .barrier) {
                if caller.isHere { return Result { () throws(Failure) in try exclusively(body) } }
                return caller.result { () throws(Failure) in try exclusively(body) }
            }
        }.get()
    }

    /// Waits until the caller has the queue to itself. Needs no thread of the queue while it holds.
    func hold() -> ExclusiveHold {
        if !mark.holding.holdAgain() {
            if unsafe Frame.isCurrent(mark.exclusive) { return .nothing }
            LentThread.calling { queue.sync(flags: .barrier) { queue.suspend() } }
            mark.holding.begin()
        }
        return ExclusiveHold(releasing: { if mark.holding.end() { queue.resume() } })
    }

    /// Has the queue run `work`, marked as one of its jobs.
    func submit(_ work: consuming @escaping Work) {
        let job = unsafe QueueJob(consume work, of: mark.running)
        queue.async { job.run() }
    }

    /// Has the queue run `work` alone, marked as one of its jobs.
    func submitBarrier(_ work: consuming @escaping Work) {
        let job = unsafe QueueJob(consume work, of: mark.exclusive)
        queue.async(flags: .barrier) { job.run() }
    }

    /// Marks the thread as inside a barrier, so that a nested one knows that it may run at once.
    func exclusively<Value, Failure: Error>(
        _ body: () throws(Failure) -> Value
    ) throws(Failure) -> Value {
        try unsafe Frame.enter(mark.exclusive, body)
    }
}

/// A job as a dispatch queue gets it: marked by a frame, and freed as soon as it has run (law 10).
///
/// An object, since a closure that captures only this needs no memory of its own.
@safe final class QueueJob: @unchecked Sendable {
    // Unchecked: it runs once. The owner is compared, and never followed.
    private var work: Work?
    private let owner: Frame.Owner

    init(_ work: consuming @escaping Work, of owner: Frame.Owner) {
        self.work = consume work
        unsafe self.owner = owner
    }

    func run() { unsafe Frame.enterJobs(of: owner) { work.take()?() } }
}
