internal import CPlatform
internal import Dispatch

extension WaitForecast {
    /// Lets the system find out whether a queue that the caller is on is serial.
    ///
    /// A queue does not report that. On a serial queue the system traps; a concurrent one runs the
    /// probe's block beside the caller.
    mutating func ask(_ queue: DispatchQueue) {
        probe = { name in
            // The system traps without a message.
            unsafe ec_print_error(
                "'\(name)' has been waited for, for a second, from within a job of the queue '\(queue.label)', on which it "
                    + "runs. If that queue is serial the wait never ends (law 27), and the system stops the program now. "
                    + "Submit the work with execute or run, or wait elsewhere.")
            queue.sync {}
        }
    }

    /// Examines the targets of a queue of the library's: its jobs run as jobs of those.
    mutating func follow(targetsOf mark: QueueMark) {
        var next = mark.target
        while obstacle == nil, let queue = next {
            let mark = QueueMark.of(queue)
            switch mark.kind {
            case .global: return
            case .main: return follow(MainContext())
            case .own: break
            }
            // The holder of a queue has suspended it, and with it the queues that target it.
            if unsafe mark.exclusiveOwner.isMine || Frame.isCurrent(mark.exclusive)
                || mark.isSerial && mark.isOccupied
            {
                return obstacle = queue.label
            }
            if mark.isOccupied { return ask(queue) }
            next = mark.target
        }
    }
}

/// The three ways to wait for a dispatch queue that keeps barriers: to read, to exclude, and to
/// hold.
///
/// A frame marks a thread that is inside, because a nested `sync` to another queue hides the
/// queue's key (law 4).
struct QueueEntry: Sendable {
    let queue: DispatchQueue
    let mark: QueueMark

    init(_ queue: DispatchQueue) {
        self.queue = queue
        mark = .of(queue)
    }

    /// An entry to a serial queue that has no mark yet.
    init(serial queue: DispatchQueue, target: DispatchQueue?) {
        self.queue = queue
        mark = .of(queue, isSerial: true, target: target)
    }

    /// Yes on this queue, on queues that target it, and for its holder; otherwise not known.
    var isCurrent: Bool? { mark.isOccupied || mark.exclusiveOwner.isMine ? true : nil }

    /// Whether the caller is known to have exclusive access to the queue.
    var isExclusive: Bool { unsafe mark.exclusiveOwner.isMine || Frame.isCurrent(mark.exclusive) }

    /// Whether the caller is known to be inside `read`, and so not to have exclusive access.
    var isReading: Bool { unsafe !isExclusive && Frame.isCurrent(mark.shared) }

    /// Waits for `body` to run, concurrently with other work; inside the queue's work it runs at
    /// once.
    func read<Value, Failure: Error>(
        _ body: () throws(Failure) -> Value
    ) throws(Failure) -> Value {
        if unsafe mark.isOccupied || Frame.isCurrent(mark.shared) { return try body() }
        if holdAgain() {
            defer { endHold() }
            return try body()
        }
        let caller = Caller.current
        return try unsafe waiting(for: .init(mark.exclusive)) {
            queue.sync {
                if caller.isHere {
                    return Result { () throws(Failure) in try unsafe Frame.enter(mark.shared, body)
                    }
                }
                return caller.result { () throws(Failure) in
                    try unsafe Frame.enter(mark.shared, body)
                }
            }
        }.get()
    }

    /// Waits for `body` to run exclusively; if the caller has exclusive access, it runs at once.
    func exclude<Value, Failure: Error>(
        _ body: () throws(Failure) -> Value
    ) throws(Failure) -> Value {
        if unsafe Frame.isCurrent(mark.exclusive) { return try body() }
        if holdAgain() {
            defer { endHold() }
            return try body()
        }
        let caller = Caller.current
        return try waiting(for: allOwners) {
            queue.sync(flags: .barrier) {
                if caller.isHere { return Result { () throws(Failure) in try exclusively(body) } }
                return caller.result { () throws(Failure) in try exclusively(body) }
            }
        }.get()
    }

    /// Waits until the caller has exclusive access. The hold occupies no thread of the queue.
    func hold() -> ExclusiveHold {
        if !mark.exclusiveOwner.holdAgain() {
            if unsafe Frame.isCurrent(mark.exclusive) { return .nothing }
            waiting(for: allOwners) {
                queue.sync(flags: .barrier) { queue.suspend() }
            }
            mark.exclusiveOwner.begin()
        }
        return ExclusiveHold(releasing: endHold)
    }

    /// The owners of all frames of the queue's jobs.
    private var allOwners: NestedWait.Owners {
        unsafe NestedWait.Owners(mark.exclusive, mark.shared, mark.running)
    }

    /// Runs `body`, which waits for the queue, where jobs of these owners keep the caller out.
    private func waiting<Result>(
        for owners: NestedWait.Owners, _ body: () -> Result
    ) -> Result {
        NestedWait.during(for: owners, named: .label(of: queue)) {
            BlockingScope.calling(body)
        }
    }

    /// Holds once more for the holder, for as long as a closure of its own runs: another thread may
    /// release the hold meanwhile.
    private func holdAgain() -> Bool {
        mark.exclusiveOwner.isMine && mark.exclusiveOwner.holdAgain()
    }

    private func endHold() { if mark.exclusiveOwner.end() { queue.resume() } }

    /// Submits `work` to the queue, marked as one of its jobs.
    func submit(_ work: consuming @escaping Work) {
        let job = unsafe QueueJob(consume work, of: mark.running)
        queue.async { job.run() }
    }

    /// Submits `work` to the queue as a barrier, marked as one of its exclusive jobs.
    func submitBarrier(_ work: consuming @escaping Work) {
        let job = unsafe QueueJob(consume work, of: mark.exclusive)
        queue.async(flags: .barrier) { job.run() }
    }

    /// Marks the thread as inside a barrier, so that a nested barrier knows that it may run at
    /// once.
    func exclusively<Value, Failure: Error>(
        _ body: () throws(Failure) -> Value
    ) throws(Failure) -> Value {
        try unsafe Frame.enter(mark.exclusive, body)
    }
}

/// A job as a dispatch queue gets it: marked by a frame, and freed as soon as it has run (law 10).
///
/// A class, because a closure that captures one object only needs no allocation.
@safe final class QueueJob: @unchecked Sendable {
    // Unchecked: it runs once. The owner is compared, and never dereferenced.
    private var work: Work?
    private let owner: Frame.Owner

    init(_ work: consuming @escaping Work, of owner: Frame.Owner) {
        self.work = consume work
        unsafe self.owner = owner
    }

    func run() { unsafe Frame.enterJobs(of: owner) { work.take()?() } }
}
