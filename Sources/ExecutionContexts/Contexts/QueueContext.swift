internal import CPlatform
public import Dispatch

/// Runs work on a dispatch queue that you made: `queue.context`.
///
/// A queue does not report whether it is serial, so neither does this context.
/// `.serial(named:target:)` and `.barrier(named:target:)` make queues that do, on top of one you
/// have. Work for a suspended queue waits until it is resumed.
public struct QueueContext: ExecutionContext {
    /// The queue that the work runs on.
    public let queue: DispatchQueue
    private let mark: QueueMark

    /// Makes a context that runs its work on a dispatch queue.
    public init(_ queue: DispatchQueue) {
        self.queue = queue
        mark = .of(queue)
    }

    public func execute(_ work: consuming @escaping Work) {
        SimulationHooks.willSubmitOutside(to: name)
        let job = unsafe QueueJob(consume work, of: mark.running)
        queue.async { job.run() }
    }

    /// Yes on this queue and on queues that target it, otherwise not known (law 4).
    public var isCurrent: Bool? { mark.isOccupied ? true : nil }

    public func checkIsCurrent() -> Bool {
        dispatchPrecondition(condition: .onQueue(queue))
        return true
    }

    public var name: String { queue.label }

    public var facts: ContextFacts {
        ContextFacts(queue: queue) { forecast in
            if isCurrent == true { forecast.ask(queue) }
        }
    }
}

extension DispatchQueue {
    /// This queue as a context.
    public var context: QueueContext { QueueContext(self) }
}

extension ContextFacts {
    /// What is known of a context of a dispatch queue.
    init(queue: DispatchQueue, forecast: @escaping @Sendable (inout WaitForecast) -> Void) {
        self.init(forecast: forecast)
        self.queue = queue
    }
}

extension WaitForecast {
    /// Lets the system find out whether a queue that the caller is on is serial: on such a queue it
    /// traps, and a concurrent one runs the probe's block beside the caller.
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

    /// Traps if the caller is on the queue. Another queue's `sync` may hide that: the system knows.
    func checkIsNotOn(_ queue: DispatchQueue, named name: String? = nil) {
        guard mayTrap else { return }
        SystemCheck.run {
            dispatchPrecondition(condition: .notOnQueue(queue))
        } orElse: {
            let name = name ?? queue.label
            Self.trapEndless(name, "a job of '\(name)', on which it runs")
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

/// A dispatch queue that keeps barriers: what the contexts with their own queue enter, and the
/// context of a queue that the user made, and that the user says keeps barriers. A frame marks a
/// thread that is inside, because a nested `sync` to another queue hides the queue's key (law 4).
struct QueueEntry: SynchronousBarrierContext {
    let queue: DispatchQueue
    let mark: QueueMark

    /// If it is said to be serial, or to have a target, the queue has no mark yet.
    init(_ queue: DispatchQueue, isSerial: Bool = false, target: DispatchQueue? = nil) {
        self.queue = queue
        mark = .of(queue, isSerial: isSerial, target: target)
    }

    var isCurrent: Bool? { mark.isOccupied || mark.exclusiveOwner.isMine ? true : nil }

    /// Whether the caller is known to have exclusive access to the queue.
    var isExclusive: Bool { unsafe mark.exclusiveOwner.isMine || Frame.isCurrent(mark.exclusive) }

    /// Whether the caller is known to be inside `sync`, and so not to have exclusive access.
    var isReading: Bool { unsafe !isExclusive && Frame.isCurrent(mark.shared) }

    func sync<Value, Failure: Error>(
        _ body: () throws(Failure) -> Value
    ) throws(Failure) -> Value {
        if unsafe mark.isOccupied || Frame.isCurrent(mark.shared) { return try body() }
        return try unsafe enter(mark.shared, behind: .init(mark.exclusive), [], body)
    }

    /// Waits for `body` to run exclusively; if the caller has exclusive access, it runs at once.
    func exclude<Value, Failure: Error>(
        _ body: () throws(Failure) -> Value
    ) throws(Failure) -> Value {
        if unsafe Frame.isCurrent(mark.exclusive) { return try body() }
        return try unsafe enter(mark.exclusive, behind: allOwners, .barrier, body)
    }

    /// Waits for `body` to run as work of `owner`, where jobs of `others` keep the caller out.
    private func enter<Value, Failure: Error>(
        _ owner: Frame.Owner, behind others: NestedWait.Owners, _ flags: DispatchWorkItemFlags,
        _ body: () throws(Failure) -> Value
    ) throws(Failure) -> Value {
        // Another thread may release the hold while the closure runs.
        if mark.exclusiveOwner.isMine, mark.exclusiveOwner.holdAgain() {
            defer { endHold() }
            return try body()
        }
        func run() throws(Failure) -> Value { try unsafe Frame.enter(owner, body) }
        let caller = Caller.current
        return try waiting(for: others) {
            queue.sync(flags: flags) {
                caller.isHere ? Result(catching: run) : caller.result(run)
            }
        }.get()
    }

    /// Waits until the caller has exclusive access. The hold occupies no thread of the queue.
    func exclude() -> ExclusiveHold {
        if !mark.exclusiveOwner.holdAgain() {
            if unsafe Frame.isCurrent(mark.exclusive) { return .nothing }
            waiting(for: allOwners) { queue.sync(flags: .barrier) { queue.suspend() } }
            mark.exclusiveOwner.begin()
        }
        return ExclusiveHold(releasing: endHold)
    }

    /// The owners of all frames of the queue's jobs.
    private var allOwners: NestedWait.Owners {
        unsafe NestedWait.Owners(mark.exclusive, mark.shared, mark.running)
    }

    /// Runs `body`, which waits for the queue, where jobs of these owners keep the caller out.
    private func waiting<Result>(for owners: NestedWait.Owners, _ body: () -> Result) -> Result {
        NestedWait.during(for: owners, named: .label(of: queue)) { BlockingScope.calling(body) }
    }

    private func endHold() { if mark.exclusiveOwner.end() { queue.resume() } }

    func execute(_ work: consuming @escaping Work) {
        SimulationHooks.willSubmitOutside(to: queue.label)
        let job = unsafe QueueJob(consume work, of: mark.running)
        queue.async { job.run() }
    }

    func executeBarrier(_ work: consuming @escaping Work) {
        SimulationHooks.willSubmitOutside(to: queue.label)
        let job = unsafe QueueJob(consume work, of: mark.exclusive)
        queue.async(flags: .barrier) { job.run() }
    }

    func checkIsCurrent() -> Bool {
        dispatchPrecondition(condition: .onQueue(queue))
        return true
    }
}

// The context of a queue that the user made. The queue does not report whether it is serial. So if
// the caller is on it, and not through this context, the system traps without exclusive access.
extension QueueEntry {
    var name: String { queue.label }

    var facts: ContextFacts {
        ContextFacts(queue: queue) { forecast in
            isExclusive ? forecast.obstacle = name : forecast.ask(queue)
        }
    }

    func syncBarrier<Value, Failure: Error>(
        _ body: () throws(Failure) -> Value
    ) throws(Failure) -> Value {
        try isInside() ? unsafe Frame.enter(mark.exclusive, body) : exclude(body)
    }

    func hold() -> ExclusiveHold { isInside() ? .nothing : exclude() }

    /// Whether the caller has exclusive access, and not by a hold: inside one it holds once more,
    /// because another thread may release it. Traps if the caller shares the queue with other work,
    /// and would wait for itself.
    private func isInside() -> Bool {
        if mark.exclusiveOwner.isMine { return false }
        if isExclusive { return true }
        require(
            !isReading,
            "An exclusive access on '\(name)' was waited for from within a read, and would wait for that read to "
                + "end (laws 18, 28). End the read first, or make it an exclusive access as well.")
        guard isCurrent == true else { return false }
        dispatchPrecondition(condition: .onQueueAsBarrier(queue))
        return true
    }
}

/// A job as a dispatch queue gets it: marked by a frame, and freed as soon as it has run (law 10).
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
