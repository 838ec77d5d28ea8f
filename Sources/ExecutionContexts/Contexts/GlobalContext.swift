internal import CPlatform
public import Dispatch
internal import Synchronization

/// Runs work on the system's shared threads, many jobs at a time.
///
/// It has no barriers, since the global queues ignore them: its view `.global.barrier()` has. Work
/// that blocks a thread belongs on `.blocking`.
///
/// Jobs wait in a queue of the library's own. At most one request at a time asks the system for a
/// thread. A worker runs job after job, and requests the next worker if it leaves a job that can
/// start. So no job waits behind a slow one, and submitting a job costs a fraction of submitting it
/// to the system.
///
/// A job that waits by the library's own means - for an `Async`, a view, a section, in
/// `WorkerPool.blocking` - makes room for another job, which then runs on one of the library's own
/// threads. So jobs may wait for one another (law 11).
@safe public struct GlobalContext: ExecutionContext {
    // The queues live as long as the process. Reference counting would have every submitter and
    // every worker write to the same few words, which costs more than the rest of a submission.
    private let reference: Unmanaged<GlobalQueue>

    /// Makes the context of one quality of service.
    public init(qos: DispatchQoS.QoSClass = .default) {
        unsafe reference = .passUnretained(GlobalQueue.of(qos))
    }

    public func execute(_ work: consuming @escaping Work) {
        let work = UnmanagedWork(work)
        unsafe reference._withUnsafeGuaranteedRef { globalQueue in
            if SimulationHooks.isAnywhere { return executeSimulated(work) }
            globalQueue.execute(work.assembled())
            globalQueue.makeRoomIfNeeded()
        }
    }

    @inline(never)
    private func executeSimulated(_ work: UnmanagedWork) {
        let work = work.assembled()
        if unsafe SimulationHooks.submit(work, for: globalQueue.identity, named: name) { return }
        globalQueue.execute(work)
        globalQueue.makeRoomIfNeeded()
    }

    /// The system's queue that the threads come from.
    public var queue: DispatchQueue { globalQueue.root.queue }

    /// Yes on this quality of service, otherwise not known (law 4).
    public var isCurrent: Bool? {
        globalQueue.isCurrent == true ? true : globalQueue.root.isCurrent
    }

    public func checkIsCurrent() -> Bool {
        // One of the library's threads, running in place of one that waits, is not a thread of the
        // queue.
        if globalQueue.isCurrent == true { return true }
        dispatchPrecondition(condition: .onQueue(queue))
        return true
    }

    public var name: String { globalQueue.name }

    public var runsAnywhere: Bool { true }

    public var facts: ContextFacts {
        var facts = ContextFacts()
        facts.isReliable = true
        facts.hasSystemTime = true
        return facts
    }

    private var globalQueue: GlobalQueue { unsafe reference.takeUnretainedValue() }
}

extension ExecutionContext where Self == GlobalContext {
    /// The system's shared threads.
    public static var global: GlobalContext { GlobalContext() }

    /// The system's shared threads, at a quality of service.
    public static func global(qos: DispatchQoS.QoSClass) -> GlobalContext {
        GlobalContext(qos: qos)
    }
}

/// A global queue of the system.
private struct RootQueue: ExecutionContext {
    let queue: DispatchQueue
    let quality: DispatchQoS.QoSClass
    private let mark: QueueMark

    fileprivate init(_ quality: DispatchQoS.QoSClass) {
        queue = .global(qos: quality)
        self.quality = quality
        mark = .of(queue)
    }

    func execute(_ work: @escaping Work) {
        DispatchStart.requireGlobalQueues()
        queue.async(execute: work)
    }

    var isCurrent: Bool? { mark.isCurrent }

    var facts: ContextFacts {
        var facts = ContextFacts()
        facts.isReliable = true
        return facts
    }
}

/// The queue of jobs in front of a global queue of the system, and the substitutes for waiting
/// jobs.
///
/// The system has few threads for its queues, and does not know which of them wait for jobs that
/// are still queued here. So for each job that waits by the library's means there may be one
/// substitute: a thread of the library's own that drains this queue.
///
/// | thread | first | then |
/// |---|---|---|
/// | a job that waits | counts itself in `waiting` | looks for queued jobs, under the lock |
/// | a submitter | queues its job, under the lock | looks at `waiting` |
///
/// So at least one of the two sees the other, and starts a substitute.
private final class GlobalQueue: LimitedView, @unchecked Sendable {  // See below.
    // Unchecked for the superclass only: everything here is a sendable constant or an atomic.

    /// How many jobs wait.
    private let waiting = Atomic<Int>(0)
    /// How many substitutes there are.
    private let substitutes = Atomic<Int>(0)

    private let blockingScope: GlobalBlockingScope

    let root: RootQueue

    private init(_ quality: DispatchQoS.QoSClass, _ name: String) {
        blockingScope = GlobalBlockingScope()
        root = RootQueue(quality)
        super.init(base: root, width: .max, name: name)
        unsafe blockingScope.queue = .passUnretained(self)
    }

    override func drain() { blockingScope.occupy { super.drain() } }

    /// Starts a substitute if jobs are queued and other jobs wait; called after a submission.
    @inline(__always)
    func makeRoomIfNeeded() {
        // Relaxed: the queue's lock orders this load after the count of a waiter that found the
        // queue empty.
        if waiting.load(ordering: .relaxed) > 0 { makeRoom() }
    }

    fileprivate func beginWait() {
        waiting.add(1, ordering: .relaxed)  // Relaxed: see above.
        makeRoom()
    }

    fileprivate func endWait() { waiting.subtract(1, ordering: .relaxed) }

    @inline(never)
    private func makeRoom() {
        guard canStartJob, reserveSubstitute() else { return }
        let hasCome = LibraryThreads.run(
            .init(name: name, quality: root.quality.number) { [self] in substitute() })
        if !hasCome { substitutes.subtract(1, ordering: .relaxed) }
    }

    /// Counts one more substitute, if there may be one.
    ///
    /// Relaxed, all of them: the queue's lock stands between these accesses and the jobs.
    private func reserveSubstitute() -> Bool {
        var count = substitutes.load(ordering: .relaxed)
        while count < waiting.load(ordering: .relaxed) {
            let result = substitutes.weakCompareExchange(
                expected: count, desired: count + 1, ordering: .relaxed)
            if result.exchanged { return true }
            count = result.original
        }
        return false
    }

    /// Drains the queue until it is empty, or until the system's own threads suffice.
    private func substitute() {
        repeat {
            // As many substitutes as there may be: each one starts the next.
            makeRoom()
            drain()
            // Sequentially consistent: either a later submitter finds room for a substitute, or
            // this thread finds the job.
            substitutes.subtract(1, ordering: .sequentiallyConsistent)
        } while canStartJob && reserveSubstitute()
    }

    // MARK: - The queues

    static func of(_ quality: DispatchQoS.QoSClass) -> GlobalQueue {
        switch quality {
        case .background: background
        case .utility: utility
        case .userInitiated: userInitiated
        case .userInteractive: userInteractive
        default: standard
        }
    }

    private static let background = SimulationHooks.making {
        GlobalQueue(.background, "global(background)")
    }
    private static let utility = SimulationHooks.making { GlobalQueue(.utility, "global(utility)") }
    private static let standard = SimulationHooks.making { GlobalQueue(.default, "global") }
    private static let userInitiated = SimulationHooks.making {
        GlobalQueue(.userInitiated, "global(userInitiated)")
    }
    private static let userInteractive = SimulationHooks.making {
        GlobalQueue(.userInteractive, "global(userInteractive)")
    }
}

/// The blocking scope of the threads that drain a queue: notifies the queue when one of them waits.
@safe private final class GlobalBlockingScope: BlockingScope, @unchecked Sendable {
    // Unchecked: the queue is written once, before any thread uses this scope. It lives as long as
    // the process.
    fileprivate var queue: Unmanaged<GlobalQueue>?

    init() { unsafe super.init(for: nil) }

    override func beginWait() { unsafe queue?._withUnsafeGuaranteedRef { $0.beginWait() } }

    override func endWait(_ resumption: Resumption) {
        unsafe queue?._withUnsafeGuaranteedRef { $0.endWait() }
    }

    override func beginCall() { beginWait() }

    override func endCall() { endWait(.atOnce) }
}
