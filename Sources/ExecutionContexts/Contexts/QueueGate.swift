internal import CPlatform
internal import Dispatch

extension Outlook {
    /// Has the system find out whether a queue that the caller is on is serial, which a queue does
    /// not tell.
    ///
    /// Of a serial one the system traps; a concurrent one runs the block beside the caller.
    mutating func ask(_ queue: DispatchQueue) {
        probe = { name in
            // The system traps without a word.
            unsafe ec_complain(
                "'\(name)' has been waited for, for a second, from within a job of the queue '\(queue.label)', on which it "
                    + "runs. If that queue is serial the wait never ends (law 27), and the system stops the program now. "
                    + "Submit the work with execute or run, or wait elsewhere.")
            queue.sync {}
        }
    }

    /// Looks at the queues that a queue of the library's targets, whose jobs run as jobs of those.
    mutating func follow(targetsOf mark: QueueMark) {
        var next = mark.target
        while obstacle == nil, let queue = next {
            let mark = QueueMark.of(queue)
            switch mark.kind {
            case .global: return
            case .main: return follow(MainContext())
            case .own: break
            }
            // Who holds a queue has suspended it, and with it those that target it.
            if unsafe mark.holding.isMine || Frame.isCurrent(mark.exclusive)
                || mark.isSerial && mark.isOccupied
            {
                return obstacle = queue.label
            }
            if mark.isOccupied { return ask(queue) }
            next = mark.target
        }
    }
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

    /// A gate of a serial queue that nobody knows yet.
    init(serial queue: DispatchQueue, target: DispatchQueue?) {
        self.queue = queue
        mark = .of(queue, isSerial: true, target: target)
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
